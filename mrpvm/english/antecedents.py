"""What a message means by "it" and "she": whom or what its sender spoke of in the messages before."""

import re
from collections.abc import Iterator, Sequence

from mrpvm.english.lexicon import (
    AUXILIARIES,
    BE_FORMS,
    CONJUNCTIONS,
    DETERMINERS,
    HAVE_FORMS,
    INTERROGATIVES,
    MONTHS,
    NUMBER_WORDS,
    PERSON_WORDS,
    POSSESSIVES,
    PREPOSITIONS,
    SPEAKERS,
    STOP_WORDS,
    WEEKDAYS,
    listed,
)
from mrpvm.english.rewordings import rewordings
from mrpvm.english.text import sentences, words
from mrpvm.english.verbs import verb_forms
from mrpvm.english.voices import correction_in
from mrpvm.values import HistoryMessage

_MESSAGES = 3
"""So many messages of the sender may lie between a pronoun and what it means."""
_PERSONAL = listed("person_pronouns")
_THING = listed("thing_pronouns")
_GROUP = listed("group_pronouns")
_GROUPS = (_PERSONAL, _THING, _GROUP)
_PRONOUNS = _PERSONAL | _THING | _GROUP
_UNNAMED = listed("unnamed_persons")
_IS = re.compile(r"\b(?:is|are|was|were|has|have|had)\b")
_POSSESSIVE = listed("possessive_pronouns")
_PLACING = listed("placing_prepositions")
_WORD = re.compile(r"[^\W_]+(?:[-'\u2019.][^\W_]+)*")
_PHRASE_WORDS = 4


def topic_before(sentence: str, history: Sequence[HistoryMessage]) -> str | None:
    """Return what a statement is about that names it with a pronoun or not at all."""
    if own := dict.fromkeys(found.topic for found in rewordings(sentence) if found.topic):
        return " and ".join(own)
    corrected = correction_in(sentence)
    said = corrected.said if corrected else sentence
    pronoun = _open_pronoun(said)
    if pronoun is None and (corrected is None or _subject(said)):
        return None
    for before in _said_before(history):
        found = _meant(pronoun or "it", before)
        if found:
            return found
    return None


def context_before(question: str, history: Sequence[HistoryMessage]) -> str | None:
    """Return what a pronoun of a question means, as it was named before."""
    pronoun = _open_pronoun(question)
    return next(filter(None, (_meant(pronoun, before) for before in _said_before(history))), None) if pronoun else None


def _said_before(history: Sequence[HistoryMessage]) -> Iterator[str]:
    """Return the sentences of the sender's last messages, the newest first."""
    told = [message.content for message in history if message.role == "user"][-_MESSAGES:]
    for content in reversed(told):
        yield from reversed(sentences(content))


def _open_pronoun(sentence: str) -> str | None:
    """Return the first pronoun that means nothing named before it in its sentence."""
    found = words(sentence)
    for place, word in enumerate(found):
        if word not in _PRONOUNS:
            continue
        if word in ("this", "that", "these", "those") and place:
            continue
        before = [item for item in found[:place] if item not in STOP_WORDS | _UNNAMED and not verb_forms(item)]
        named = any(_is_named(item, sentence) for item in before)
        if word in _PERSONAL:
            return None if named and word in _POSSESSIVE | {"her"} and _owns(found, place) else word
        return None if before and not named else word
    return None


def _owns(found: Sequence[str], place: int) -> bool:
    return place + 1 < len(found) and found[place + 1] not in PREPOSITIONS | AUXILIARIES


def _is_named(word: str, sentence: str) -> bool:
    return re.search(rf"\b{re.escape(word.capitalize())}\b", sentence) is not None


def _meant(pronoun: str, sentence: str) -> str | None:
    """Return the phrase of a sentence that a pronoun may stand for."""
    if any(pronoun in group and words(sentence)[:1] and words(sentence)[0] in group for group in _GROUPS):
        return None  # it stands for the same thing, which was named before
    subject = _subject(sentence)
    is_person = _names_person(subject)
    if pronoun in _PERSONAL:
        if is_person:
            return subject
        names = _people(sentence)
        return names[0] if len(names) == 1 else None
    phrase = subject
    if is_person or not subject:
        phrase = _object(sentence) or ("" if _has_person_word(subject) or not _IS.search(sentence) else subject)
    if phrase and pronoun in _GROUP and not (phrase.lower().endswith("s") or " and " in phrase):
        return None
    return phrase or None


def _subject(sentence: str) -> str:
    """Return what stands before the verb of a sentence; empty where that is a pronoun or nothing."""
    corrected = correction_in(sentence)
    found = _WORD.findall(corrected.said if corrected else sentence)
    kept: list[str] = []
    for place, raw in enumerate(found):
        word = raw.lower()
        if not kept and word in CONJUNCTIONS | DETERMINERS - POSSESSIVES:
            continue
        if word in SPEAKERS | _PRONOUNS | INTERROGATIVES | _UNNAMED and word not in POSSESSIVES:
            return ""
        following = found[place + 1].lower() if place + 1 < len(found) else ""
        if kept and (_is_verb(word) and not _is_verb(following) and raw.islower()):
            return " ".join(kept)
        if word in AUXILIARIES | BE_FORMS | HAVE_FORMS | PREPOSITIONS or len(kept) == _PHRASE_WORDS:
            return " ".join(kept) if kept and any(_is_verb(item.lower()) for item in found[place:]) else ""
        kept.append(raw)
    return ""


def _is_verb(word: str) -> bool:
    return word in AUXILIARIES | BE_FORMS | HAVE_FORMS or bool(verb_forms(word))


def _names_person(phrase: str) -> bool:
    if _has_person_word(phrase):
        return True
    return bool(phrase) and phrase.split()[-1][0].isupper()


def _has_person_word(phrase: str) -> bool:
    return bool(PERSON_WORDS & set(words(phrase)))


def _people(sentence: str) -> list[str]:
    """Return the names of a sentence that no preposition of place leads."""
    found = _WORD.findall(sentence)
    names: list[str] = []
    for place, word in enumerate(found):
        plain = word.lower()
        if place == 0 or not word[0].isupper() or plain in STOP_WORDS | MONTHS | WEEKDAYS:
            continue
        before = found[place - 1]
        if before[0].isupper() and names and names[-1].endswith(before):
            names[-1] = f"{names[-1]} {word}"
        elif before.lower() not in _PLACING:
            names.append(word)
    return names


def _object(sentence: str) -> str:
    """Return the first thing behind the verb with an article, owner or number: "car" of "I bought a car"."""
    found = list(_WORD.finditer(sentence))
    for place, match in enumerate(found):
        led = match.group().lower()
        if place == 0 or not (led in DETERMINERS | NUMBER_WORDS or led.isdigit()):
            continue
        phrase: list[str] = []
        for before, item in zip(found[place:], found[place + 1 :], strict=False):
            word = item.group().lower()
            is_cut = sentence[before.end() : item.start()].strip() != ""
            if is_cut or word in PREPOSITIONS | CONJUNCTIONS | AUXILIARIES or len(phrase) == _PHRASE_WORDS:
                break
            phrase.append(item.group())
        return " ".join(phrase)
    return ""
