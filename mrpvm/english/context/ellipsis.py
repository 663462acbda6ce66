"""Completes a question that only names something new: "And Maria?" after "Where does Anna work?"."""

import re
from collections.abc import Iterator, Sequence

from mrpvm.english.messages.small_talk import is_remark
from mrpvm.english.questions.asking import Query, bare_question, query_of
from mrpvm.english.questions.requests import request_of
from mrpvm.english.sentences.parsing import read, tokens_of
from mrpvm.english.sentences.structure import Phrase
from mrpvm.english.words import lexicon
from mrpvm.english.words.tagging import is_adverb, is_auxiliary, names_time
from mrpvm.english.words.text import collapse, sentences
from mrpvm.values import HistoryMessage

_MOST_WORDS = 6
_NAMED = lexicon.pattern("ellipsis.named")
_WANTED = lexicon.pattern("ellipsis.wanted")
"""A circumstance that is asked for, with no verb. "Who?" and "which ones?" mostly ask of the answer instead."""
_SEVERAL = re.compile(r"them|they|these|those|both|(?:the|these|those) (?:two|three|four)|both of them", re.IGNORECASE)
_ONE = re.compile(r"^(?:the |that |this )?(?P<kind>.+?) ones?$", re.IGNORECASE)
_MEANT = frozenset(("he", "him", "she", "her", "it", "they", "them"))
"""Pronouns that the new phrase of an elliptical question may replace."""
_PRONOUNS = lexicon.STOP_WORDS - lexicon.DETERMINERS - lexicon.PREPOSITIONS - {"and", "or"}


def asked_again(message: str, history: Sequence[HistoryMessage]) -> str | None:
    """Return the sender's last question with what the message names put in; None for a complete question.

    Args:
        history: the oldest first, without the message.
    """
    new, wanted = _new(message), _WANTED.match(collapse(message))
    if not (new or wanted):
        return None
    said = [item for item in history if item.role == "user" and not is_remark(item.content)]
    if not said:
        return None
    last = said[-1].content
    question = asked_again(last, said[:-1]) or "".join(sentences(collapse(last))[-1:])
    query = query_of(question)
    if query is None:
        return None
    bare = bare_question(question)
    return _of_the_same(bare, wanted["wanted"]) if wanted else _with(bare, query, new or "")


def compared_with_names(request: str, said: Sequence[str]) -> str:
    """Return a request to compare "them" or "the two" with the names of the last enumeration put in.

    Args:
        said: the earlier messages, the oldest first.
    """
    parsed = request_of(request)
    meant = parsed.things[0] if parsed and parsed.kind == "comparison" and len(parsed.things) == 1 else ""
    if not _SEVERAL.fullmatch(meant):
        return request
    for sentence in (sentence for text in reversed(said) for sentence in reversed(sentences(collapse(text)))):
        if names := _named_together(sentence):
            return re.sub(rf"\b{meant}\b", f"{', '.join(names[:-1])} and {names[-1]}", request, count=1)
    return request


def _named_together(sentence: str) -> list[str]:
    """Return the members of the first enumeration of a sentence, as written."""
    query = query_of(sentence)
    text = bare_question(sentence) if query else sentence
    surfaces = tokens_of(text)[1]
    for clause in (query.clause,) if query else read(text).clauses:
        for phrase in clause.phrases:
            if phrase.others and not any(item.pronoun for item in phrase.members):
                return [" ".join(surfaces[item.start : item.end + 1]) for item in phrase.members]
    return []


def _of_the_same(question: str, wanted: str) -> str | None:
    """Return a further question about the same matter: "From which gate?" after "When does my flight leave?"."""
    tokens, surfaces = tokens_of(question)
    start = next((place for place, token in enumerate(tokens) if is_auxiliary(token)), None)
    if start is None or wanted in tokens[:start]:
        return None
    end = -1 if tokens[-1] in lexicon.PREPOSITIONS else None  # it governed the gap of the earlier question
    asking, *governing = wanted.split() if wanted.split()[-1] in lexicon.PREPOSITIONS else (wanted,)
    return f"{' '.join((asking, tokens[start], *surfaces[start + 1 : end], *governing))}?"


def _new(message: str) -> str | None:
    """Return the phrase of a message that contains nothing else."""
    match = _NAMED.match(collapse(message))
    if match is None:
        return None
    new = match["new"]
    words = new.lower().split()
    if not match["opener"] and not (_is_name(new) and message.rstrip().endswith("?")):
        return None
    is_clause = not (lexicon.INTERROGATIVES | lexicon.AUXILIARIES | lexicon.BE_FORMS).isdisjoint(words) or bool(
        read(new).clauses
    )
    if is_clause or len(words) > _MOST_WORDS or not _PRONOUNS.isdisjoint(words) or is_adverb(words[0]):
        return None
    return new


def _is_name(text: str) -> bool:
    words = text.split()
    return all(word[0].isupper() for word in words) and words[0].lower() not in lexicon.STOP_WORDS


def _with(question: str, query: Query, new: str) -> str | None:
    """Return the question with the new phrase in the place of a similar one; None if it has no similar phrase."""
    tokens, surfaces = tokens_of(question)
    clauses = (query.clause, *query.conditions)
    governed = [item for clause in clauses for item in clause.modifiers]
    phrases = [part for clause in clauses for phrase in clause.phrases for part in (phrase, *phrase.owned_by)]
    first, _, rest = new.partition(" ")
    if first.lower() in lexicon.PREPOSITIONS and rest:
        owned = [("of", part) for phrase in phrases for part in phrase.owned_by]
        old = next((item for word, item in (*governed, *owned) if word == first.lower() and _is_like(item, rest)), None)
        if old is None and first.lower() not in tokens:
            return f"{question} {new}?"
        new = rest
    elif one := _ONE.match(new):
        old = next((phrase for phrase in phrases if not phrase.pronoun and not phrase.is_name), None)
        new = f"the {one['kind']} {surfaces[old.end]}" if old else new
    else:
        old = next(_alike(phrases, new), None)
    if old is None:
        return None
    end = max(part.end for part in old.members) + 1
    return f"{' '.join([*surfaces[: old.start], new, *surfaces[end:]])}?"


def _alike(phrases: Sequence[Phrase], new: str) -> Iterator[Phrase]:
    """Yield the phrases that a new one may replace, the most similar first."""
    head = new.lower().split()[-1]
    yield from (phrase for phrase in phrases if phrase.head_text == head)
    yield from (phrase for phrase in phrases if _is_like(phrase, new))
    if names_time(head):
        return
    yield from (phrase for phrase in phrases if phrase.pronoun in _MEANT)
    if len(phrases) == 1 and not phrases[0].pronoun:
        yield phrases[0]


def _is_like(phrase: Phrase, new: str) -> bool:
    """Return whether two phrases are of one kind: names, times, possessions, definite or other things."""
    first, head = new.lower().split()[0], new.lower().split()[-1]
    if phrase.pronoun or names_time(head) != names_time(phrase.head_text):
        return False
    if names_time(head):
        return True
    if first in lexicon.POSSESSIVES or phrase.owner_pronoun:
        return first in lexicon.POSSESSIVES and bool(phrase.owner_pronoun)
    return _is_name(new) == phrase.is_name and (first in lexicon.DETERMINERS) == bool(phrase.determiner)
