"""A sentence cut into what it says one after the other; each part is read with its own subject."""

import re
from collections.abc import Sequence

from mrpvm.knowledge.lexicon import AUXILIARIES, DETERMINERS, NUMBER_WORDS, PREPOSITIONS
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, is_past, read
from mrpvm.plugins.goal_solvers.symbolic.references import leading_phrase
from mrpvm.text_cache import TextCache

_BREAK = re.compile(
    r"(;\s*|,?\s+(?:but|whereas|although|though|yet)\s+|,\s+(?:and|while|so|or)\s+(?=(?:the|a|an|my|your|his|her|its|our|their|i"
    r"|we|you|he|she|it|they|[A-Z]\w+)\b)|,?\s+(?=because\s(?!of\b))|,?\s+and\s+(?=\w+)|\s+(?:until|after|while)\s+(?=[A-Z]))"
)
_RELATIVE = re.compile(
    r"^(?P<head>.*?(?<![\w'-])(?P<noun>(?:(?:the|a|an|his|her|its|their|my|our)\s+)?[\w'-]+(?:\s+[A-Z][\w'-]+)*)),"
    r"\s+(?:who|which)\s+(?P<more>[^,]+)(?:,\s*(?P<tail>.+))?$"
)
_EXCLUSION = re.compile(r"^(?P<kept>[^;]+?),?\s+but\s+(?:no|not)\s+(?P<out>[^,;]+?)[.!]*$", re.IGNORECASE)
_TITLE = re.compile(r"[\"\u201c][^\"\u201c\u201d]{1,80}[\"\u201d]")
_TIME_LINK = re.compile(r"\s(?:until|after|while)\s", re.IGNORECASE)
_PRONOUNS = frozenset(("it", "they", "he", "she"))


@TextCache
def clauses_of(text: str) -> tuple[Reading, ...]:
    """Give the clauses of a sentence, none if it is one; one that goes on with a verb has the subject of the first.

    What is told before "but no birds" is denied no more than without it.
    """
    bare = text.rstrip()
    exclusion = _EXCLUSION.match(bare)
    if exclusion and not _has_verb(exclusion["out"]):
        return clauses_of(exclusion["kept"]) or (read(exclusion["kept"]),)
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
    pieces = _pieces(text)
    for place in range(0, len(pieces), 2):
        part = (pieces[place] or "").strip()
        link = (pieces[place - 1] or "").strip(" ,").lower() if place else ""
        if part:
            _add(parts, part, link)
    return parts


def _pieces(text: str) -> list[str]:
    """Give the text between its breaks, and the breaks; a quoted title holds none: "Salt and Light" is one name."""
    titles = [match.span() for match in _TITLE.finditer(text) if _is_title(match.group()[1:-1])]
    pieces, start = [], 0
    for found in _BREAK.finditer(text):
        if not any(begin < found.start() < end for begin, end in titles):
            pieces += [text[start : found.start()], found.group()]
            start = found.end()
    return [*pieces, text[start:]]


def _is_title(quoted: str) -> bool:
    """Tell whether a quotation is a title: every word of it but the smallest is capitalised, and no sentence."""
    return quoted[-1:] not in ".!?" and all(word[:1].isupper() or len(word) <= 3 for word in quoted.split())


def _add(parts: list[str], part: str, link: str) -> None:
    """Add a piece: as a clause, with the subject of the first one if it has none, or to the clause before it."""
    first, _, rest = part.partition(" ")
    word = first.lower().strip(",")
    if not parts:
        parts.append(part)
    elif word == "because":
        parts.append(_with_subject(rest, parts[0]))
    elif word in _PRONOUNS and _can_only_mean_subject(word, parts[0]):
        parts.append(f"{_subject_of(parts[0])} {rest}".strip())
    elif link == "and" and not _has_verb(parts[-1]):
        parts[-1] = f"{parts[-1]} and {part}"  # "two nurses and one doctor are here"
    elif _begins_with_verb(read(part).tokens):
        parts.append(f"{_subject_of(parts[0])} {part}".strip())
    elif not _has_verb(part) and part[:1].islower():
        parts[-1] = f"{parts[-1]} and {part}"
    else:
        parts.append(part)


def _begins_with_verb(tokens: Sequence[str]) -> bool:
    first, second = (*tokens[:2], "", "")[:2]
    is_third_person = first.endswith("s") and not first.endswith(("ss", "us", "is"))
    takes_object = second in DETERMINERS | PREPOSITIONS or second[:1].isdigit() or second in NUMBER_WORDS
    return is_past(first) or first in AUXILIARIES or (is_third_person and takes_object)


def _has_verb(part: str) -> bool:
    tokens = read(part).tokens
    return any(is_past(token) or token in AUXILIARIES for token in tokens) or _has_present_verb(part)


def _has_present_verb(part: str) -> bool:
    """Tell whether a noun is followed by what reads as its verb: a form in "s" with a number or article behind it."""
    reading = read(part)
    return any(_begins_with_verb(reading.tokens[word.place :]) for word in reading.words[1:] if not word.is_name)


def _with_subject(cause: str, effect: str) -> str:
    """Give the clause of a cause, its pronoun replaced where only the effect's subject can be meant."""
    first, _, rest = cause.partition(" ")
    meant = first.lower() in _PRONOUNS and _can_only_mean_subject(first.lower(), effect)
    return f"{_subject_of(effect)} {rest}" if meant else cause


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


def _subject_of(part: str) -> str:
    reading = read(part)
    phrase = leading_phrase(reading.words)
    return " ".join(reading.surfaces[: phrase[-1].place + 1]) if phrase else ""
