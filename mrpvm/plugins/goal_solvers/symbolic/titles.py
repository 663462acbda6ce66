"""The title of a work, where its maker is named: "Ida wrote a novel, "Salt"" tells what Ida's novel is called."""

import re
from collections.abc import Sequence

from mrpvm.plugins.goal_solvers.symbolic.matching import match_one
from mrpvm.plugins.goal_solvers.symbolic.questions import analyse
from mrpvm.plugins.goal_solvers.symbolic.reading import read
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

_ASKED = (
    re.compile(r"^what(?:'s| is| was) the (?:title|name) of (?P<maker>.+?)['\u2019]s (?P<work>[\w-]+)$", re.IGNORECASE),
    re.compile(
        r"^what (?:is|was) (?P<maker>.+?)['\u2019]s (?P<work>[\w-]+) (?:called|titled|entitled)$", re.IGNORECASE
    ),
)
_MAKING = ("wrote", "published", "composed", "painted", "recorded", "directed", "drew", "edited")
"""What makes a work somebody's: a book that is read or sold is not the reader's."""
_TITLED = re.compile(
    r"\b(?P<owner>an?|the|his|her|their|\S+['\u2019]s) (?:[\w-]+ ){0,3}?(?P<work>[\w-]+)"
    r"(?: (?:about|of|on|for|from|with|in|by|to) [^,;:.\"\u201c]*)?,?"
    r" [\"\u201c](?P<title>[^\"\u201c\u201d]+)[\"\u201d]",
    re.IGNORECASE,
)


def titled(question: str, statements: Sequence[Statement]) -> tuple[Statement, str] | None:
    """Give the statement that tells the title asked for, with it; None where there are several or none."""
    bare = " ".join(question.split()).rstrip("?.! ")
    asked = next((match for pattern in _ASKED if (match := pattern.match(bare))), None)
    if asked is None:
        return None
    found = {title: item for item in statements for title in _titles(asked["maker"], asked["work"], item)}
    if len(found) != 1:
        return None
    [(title, statement)] = found.items()
    return statement, title


def _titles(maker: str, work: str, statement: Statement) -> list[str]:
    """Give the titles a statement sets beside a work of the maker's."""
    if statement.reading.is_negated or statement.voiced.is_claim or not _is_made_by(maker, work, statement):
        return []
    wanted = read(f"the {work}").senses
    return [
        match["title"]
        for match in _TITLED.finditer(statement.reading.text)
        if read(f"the {match['work']}").senses == wanted
    ]


def _is_made_by(maker: str, work: str, statement: Statement) -> bool:
    name = set(maker.lower().split())
    for verb in _MAKING:
        match = match_one(analyse(f"Who {verb} the {work}?"), statement)
        if match and any(name <= set(filler.text.lower().split()) for filler in match.fillers):
            return True
    return False
