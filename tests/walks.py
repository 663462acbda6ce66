"""How many random walks a test takes: two, or what the environment says for a longer run."""

import os

WALKS = int(os.environ.get("MRPVM_WALKS", "2"))
SEEDS = range(WALKS)
