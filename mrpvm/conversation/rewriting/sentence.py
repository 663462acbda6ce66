"""The rule-based rewrite: what was named before in the place of what refers back to it.

A single word is a subject if it is a name. The subject replaces one reference in the sentence and its possessive, with
the article of the text in which it was named.
"""

import re
from collections.abc import Sequence

from mrpvm.conversation.rewriting.said import READ_CHARS, spoken, words_of
from mrpvm.conversation.rewriting.signals import REFERRING
from mrpvm.english.context.coreference import as_asked, context_before, roles_of
from mrpvm.english.messages.kinds import is_task_request
from mrpvm.english.messages.small_talk import CHOICES, is_phatic
from mrpvm.english.questions.asking import query_of
from mrpvm.english.sentences.parsing import read
from mrpvm.english.words.lexicon import AUXILIARIES, INTERROGATIVES, SPEAKERS, STOP_WORDS, listed, pattern
from mrpvm.english.words.tagging import names_time
from mrpvm.english.words.text import QUESTION_MARKS, collapse, sentences
from mrpvm.values import HistoryMessage

NO_SUBJECT = "Could not extract subject from history"
NO_CHANGE = "Heuristic rewrite produced no change"
_ENDING_MARKS = " .?!,;:"
_MOST_WORDS = 8
_MOST_REPLY_WORDS = 5
_OPENING = pattern("rewriting.opening")
"""What may be before an order."""
_POSSESSIVE, _ARTICLE = pattern("rewriting.possessive"), pattern("reading.article")
_NAMED, _REFERENCE = pattern("rewriting.named"), pattern("rewriting.reference")
_ASKING = INTERROGATIVES | AUXILIARIES
_NAMES = re.compile(r"\b[A-Z][\w-]*(?: [A-Z][\w-]*)*")
_REPORTING = listed("reporting_words")
"""Words before a "that" which refers to nothing."""


def subject_of(text: str) -> str | None:
    """Return what a question is about, without its article; None if that cannot be told.

    A reply such as "The second one" is about what was asked before it, and so is what refers back by a pronoun.
    """
    text = collapse(text)
    if is_reply(text):
        return None
    named = _NAMED.search(text)
    shown = _bare(named["about"] or named["quoted"]) if named else ""
    topic = _asked_of(text) if _is_question(text) else _told_of(text)
    subjects = (shown if len(shown.split()) <= _MOST_WORDS else None, topic, _longest_name(text))
    return next((subject for subject in subjects if subject and REFERRING.isdisjoint(words_of(subject))), None)


def term_of(message: str) -> str | None:
    """Return the term that an answered message made clear; None for a statement, which asks for nothing."""
    return subject_of(message) if is_task_request(message) else None


def is_reply(message: str) -> bool:
    """Return whether a message only answers what was asked before it: "Yes", "The second one"."""
    if message.rstrip().endswith(QUESTION_MARKS):
        return False
    words = words_of(message)
    return 0 < len(words) <= _MOST_REPLY_WORDS and all(
        word in CHOICES or word in STOP_WORDS or is_phatic(word) for word in words
    )


def _is_question(text: str) -> bool:
    return text.endswith(QUESTION_MARKS) or not _ASKING.isdisjoint(words_of(text)[:1])


def _told_of(text: str) -> str | None:
    """Return what a statement is about: its subject, or the object where the subject is a pronoun; so of an order."""
    for sentence in sentences(text[:READ_CHARS]):
        parsed = read(_OPENING.sub("", sentence))
        for phrase in parsed.clauses[0].phrases if parsed.clauses else ():
            subject = _bare(parsed.text_of(phrase))
            is_thing = not phrase.pronoun and not names_time(phrase.head_text) and not is_phatic(subject)
            if is_thing and subject in sentence:
                return subject
    return None


def _longest_name(text: str) -> str | None:
    """Return the longest run of capitalised words; one word counts unless it opens the text."""
    names: list[str] = []
    for match in _NAMES.finditer(text):
        words = match.group().split()
        while words and words[0].lower() in _ASKING | SPEAKERS:
            words = words[1:]
        if len(words) > 1 or (words and match.start() > 0):
            names.append(" ".join(words))
    return max(names, key=lambda name: (len(name.split()), len(name)), default=None)


def _bare(text: str) -> str:
    return _ARTICLE.sub("", text.rstrip(_ENDING_MARKS))


def _asked_of(text: str) -> str | None:
    """Return what a question is about: its subject, or what it names first where the subject is a pronoun."""
    query, parsed = query_of(text), as_asked(text)
    for _, phrase in roles_of(query.clause) if query else ():
        named = _bare(parsed.text_of(phrase))
        if not phrase.pronoun and not names_time(phrase.head_text) and named and named in text:
            whole = _bare(text[text.index(named) :])  # "the rate on the notes"
            is_of_thing = query is not None and query.clause.verb == "be" and not query.clause.objects
            is_plain = len(whole.split()) <= _MOST_WORDS and REFERRING.isdisjoint(words_of(whole))
            return whole if is_of_thing and is_plain else named
    return None


def _subject_before(message: str, history: Sequence[HistoryMessage]) -> str | None:
    """Return what a pronoun of the message means, else what was asked about last, with its article.

    Only the user's messages tell it.
    """
    meant = context_before(message, history)
    for item in reversed(spoken(history)):
        if item.role == "assistant":
            continue
        text = collapse(item.content)
        subject = _bare(meant) if meant else subject_of(text)
        if subject and subject.lower() in text.lower():
            article = re.search(rf"\b(the|an?) {re.escape(subject)}", text, re.IGNORECASE)
            if article:  # what was told of is known since
                return f"{article[1].lower() if _is_question(text) else 'the'} {subject}"
            return subject[0].lower() + subject[1:] if _POSSESSIVE.match(subject) else subject
    return meant


def rewritten(message: str, history: Sequence[HistoryMessage]) -> tuple[str, str | None]:
    """Return the message with its reference replaced by what it refers to, or the message itself and why.

    Only its first sentence may mean what was said before; those behind it mean what the message itself names.
    """
    first = next((sentence for sentence in sentences(message) if not is_phatic(sentence)), message)
    subject = _subject_before(first, history)
    if subject is None:
        return message, NO_SUBJECT
    changed = message.replace(first, _with_subject(first, subject), 1)
    return (changed, None) if changed != message else (message, NO_CHANGE)


def _with_subject(message: str, subject: str) -> str:
    is_placed = is_owner_placed = False

    def replace(match: re.Match[str]) -> str:
        nonlocal is_placed, is_owner_placed
        kind = match.lastgroup
        if kind == "its":
            is_owner_placed, first = True, not is_owner_placed
            return f"{subject}'s" if first else match.group()
        if is_placed or (match.group().lower() == "that" and _is_reported(message[: match.start()])):
            return match.group()
        is_placed = True
        if kind == "it":
            return subject
        if kind == "same":
            return f"{match.group()} {_bare(subject)}"
        return subject if _POSSESSIVE.match(subject) else f"the {_bare(subject)}"

    return _REFERENCE.sub(replace, message)


def _is_reported(before: str) -> bool:
    """Return whether a "that" after these words refers to nothing: "they say that ..."."""
    return before[-1:].isspace() and before.rsplit(None, 1)[-1].lower() in _REPORTING
