"""The number of random walks in a test: two, or more by an environment variable."""

import os

WALKS = int(os.environ.get("TEST_WALKS", "2"))
SEEDS = range(WALKS)
