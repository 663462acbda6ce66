"""What was learned about follow-ups, read from the file beside this module; `bench/rewriting/training.py` writes it."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from mrpvm.conversation.rewriting.terms import Model

PATH = Path(__file__).with_name("weights.json")


@cache
def need_weights() -> Mapping[str, float]:
    """Give the weights of the signs that a message needs what was said before."""
    found: Mapping[str, float] = json.loads(PATH.read_text())["need"]
    return found


@cache
def term_model() -> Model:
    """Give the model of the terms that a message means."""
    found = json.loads(PATH.read_text())
    return Model(found["first"], found["second"], found["counts"], found["conversation_count"])
