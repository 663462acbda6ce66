"""Questions asked from the other side of a deed: who buys is sold to, who owns is belonged to [BP-36 b].

Only pairs of which either side says the other in every text; teaching, for one, does not make anybody learn.
"""

import re
from collections.abc import Iterator

_CONVERSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"who owns (?P<thing>.+)", ("who does {thing} belong to",)),
    (r"who owned (?P<thing>.+)", ("who did {thing} belong to",)),
    (r"(?:who (?P<do>do|does|did) (?P<thing>.+?) belong to)", ("who {do} own {thing}",)),
    (r"(?P<do>do|does|did) (?P<who>.+?) own (?P<thing>.+)", ("{do} {thing} belong to {who}",)),
    (r"(?P<do>do|does|did) (?P<thing>.+?) belong to (?P<who>.+)", ("{do} {who} own {thing}",)),
    (
        r"who (?:received|got) (?P<thing>.+?) from (?P<giver>.+)",
        ("who was given {thing} by {giver}", "who was awarded {thing} by {giver}", "who did {giver} give {thing} to"),
    ),
    (
        r"who (?:received|got) (?P<thing>.+)",
        ("who was given {thing}", "who was awarded {thing}", "who was {thing} given to", "who was {thing} awarded to"),
    ),
    (
        r"what did (?P<who>.+?) (?:receive|get) from (?P<giver>.+)",
        (
            "what was {who} given by {giver}",
            "what was {who} awarded by {giver}",
            "what was given to {who} by {giver}",
            "what was awarded to {who} by {giver}",
        ),
    ),
    (r"what did (?P<who>.+?) (?:receive|get)", ("what was {who} given", "what was {who} awarded")),
    (r"who gave (?P<thing>.+?) to (?P<who>.+)", ("who gave {who} {thing}", "who was {who} given {thing} by")),
    (
        r"did (?P<who>.+?) (?:receive|get) (?P<thing>.+?) from (?P<giver>.+)",
        ("was {who} given {thing} by {giver}", "was {who} awarded {thing} by {giver}"),
    ),
    (
        r"did (?P<who>.+?) (?:receive|get) (?P<thing>.+)",
        (
            "was {who} given {thing}",
            "was {who} awarded {thing}",
            "was {thing} given to {who}",
            "was {thing} awarded to {who}",
        ),
    ),
    (
        r"who sold (?P<thing>.+?) to (?P<who>.+)",
        ("who did {who} buy {thing} from", "who was {thing} bought from by {who}"),
    ),
    (r"who sold (?P<thing>.+)", ("who was {thing} bought from",)),
    (r"who bought (?P<thing>.+?) from (?P<giver>.+)", ("who did {giver} sell {thing} to",)),
    (r"who bought (?P<thing>.+)", ("who was {thing} sold to",)),
    (r"who did (?P<who>.+?) buy (?P<thing>.+?) from", ("who sold {thing} to {who}",)),
    (r"who did (?P<giver>.+?) sell (?P<thing>.+?) to", ("who bought {thing} from {giver}",)),
    (r"did (?P<who>.+?) buy (?P<thing>.+?) from (?P<giver>.+)", ("did {giver} sell {thing} to {who}",)),
    (r"did (?P<who>.+?) buy (?P<thing>.+)", ("was {thing} sold to {who}",)),
    (r"did (?P<giver>.+?) sell (?P<thing>.+?) to (?P<who>.+)", ("did {who} buy {thing} from {giver}",)),
    (r"who lent (?P<thing>.+?) to (?P<who>.+)", ("who did {who} borrow {thing} from",)),
    (r"who borrowed (?P<thing>.+?) from (?P<giver>.+)", ("who did {giver} lend {thing} to",)),
    (r"who borrowed (?P<thing>.+)", ("who was {thing} lent to",)),
    (r"who lent (?P<thing>.+)", ("who was {thing} borrowed from",)),
    (r"who did (?P<who>.+?) borrow (?P<thing>.+?) from", ("who lent {thing} to {who}",)),
    (r"who did (?P<giver>.+?) lend (?P<thing>.+?) to", ("who borrowed {thing} from {giver}",)),
    (r"when (?P<be>is|are) (?P<thing>.+?) open (?P<to>to|for) (?P<who>.+)", ("when {be} {thing} opened {to} {who}",)),
)
_PATTERNS = tuple((re.compile(rf"^{pattern}$", re.IGNORECASE), wordings) for pattern, wordings in _CONVERSES)


def converses(question: str) -> Iterator[str]:
    """Give the question as it is asked of the other one who takes part."""
    for pattern, wordings in _PATTERNS:
        found = pattern.match(question)
        if found:
            yield from (f"{wording.format(**found.groupdict())}?" for wording in wordings)
            return
