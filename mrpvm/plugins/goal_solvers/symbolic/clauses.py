"""A sentence cut into what it says one after the other; each part is read with its own subject."""

import re

from mrpvm.knowledge.lexicon import AUXILIARIES, DETERMINERS
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, is_past, read
from mrpvm.plugins.goal_solvers.symbolic.references import leading_phrase

_BREAK = re.compile(
    r";\s*|,?\s+(?:but|whereas|although|though|yet)\s+|,\s+(?:and|while|so|or)\s+(?=(?:the|a|an|my|your|his|her|its|our|their|i"
    r"|we|you|he|she|it|they|[A-Z]\w+)\b)|,?\s+(?=because\s)|,?\s+and\s+(?=\w+)|\s+(?:until|after|while)\s+(?=[A-Z])"
)
_RELATIVE = re.compile(
    r"^(?P<head>.*?(?P<noun>(?:(?:the|a|an|his|her|its|their|my|our)\s+)?[\w'-]+(?:\s+[A-Z][\w'-]+)*)),"
    r"\s+(?:who|which)\s+(?P<more>[^,]+)(?:,\s*(?P<tail>.+))?$"
)
_TIME_LINK = re.compile(r"\s(?:until|after|while)\s", re.IGNORECASE)
_PRONOUNS = frozenset(("it", "they", "he", "she"))


def clauses_of(text: str) -> tuple[Reading, ...]:
    """Give the clauses of a sentence, none if it is one; one that goes on with a verb has the subject of the first."""
    bare = text.rstrip()
    relative = _RELATIVE.match(bare.rstrip(".!"))
    if relative:
        noun = relative["noun"]
        parts = [f"{relative['head']} {relative['tail'] or ''}".strip(), f"{noun} {relative['more']}"]
        return tuple(read(part) for part in (*_cut(parts[0]), *parts[1:]))
    parts = _cut(bare)
    return tuple(read(part) for part in parts) if len(parts) > 1 else ()


def stays_whole(text: str, clauses: tuple[Reading, ...]) -> bool:
    """Tell whether a sentence may be read as a whole besides its clauses.

    Words of two clauses that stand side by side say nothing together: "Anna left Bern and Ben studied" tells of no
    studies in Bern. A time clause belongs to what it dates.
    """
    return len(clauses) < 2 or (len(clauses) == 2 and _TIME_LINK.search(text) is not None)


def _cut(text: str) -> list[str]:
    parts: list[str] = []
    for piece in _BREAK.split(text):
        part = piece.strip()
        if not part:
            continue
        first, _, rest = part.partition(" ")
        word = first.lower().strip(",")
        if parts and word in _PRONOUNS and _can_only_mean_subject(word, parts[0]):
            parts.append(f"{_subject_of(parts[0])} {rest}".strip())
        elif parts and (is_past(word) or word in AUXILIARIES):
            parts.append(f"{_subject_of(parts[0])} {part}".strip())
        elif parts and _is_phrase(part):
            parts[-1] = f"{parts[-1]} and {part}"
        else:
            parts.append(part)
    return parts


def _can_only_mean_subject(pronoun: str, part: str) -> bool:
    """Tell whether a clause holds nothing but its subject that a pronoun behind it could mean."""
    reading = read(part)
    subject = leading_phrase(reading.words)
    if not subject:
        return False
    end = subject[-1].place
    behind = [word for word in reading.words if word.place > end + 1]
    if pronoun == "they":
        return subject[-1].text.endswith("s") and not any(word.text.endswith("s") for word in behind)
    if pronoun == "it":
        return not DETERMINERS & set(reading.tokens[end + 1 :]) and not any(word.is_name for word in behind)
    return not any(word.is_name and word.is_core for word in behind)


def _is_phrase(part: str) -> bool:
    reading = read(part)
    return not any(is_past(token) or token in AUXILIARIES for token in reading.tokens) and part[:1].islower()


def _subject_of(part: str) -> str:
    reading = read(part)
    phrase = leading_phrase(reading.words)
    return " ".join(reading.surfaces[: phrase[-1].place + 1]) if phrase else ""
