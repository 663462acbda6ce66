"""Requests for an answer of several statements: a comparison, list, steps, summary, account, reason or chain."""

import re
from collections.abc import Sequence
from copy import replace
from typing import Literal, cast

from msgspec import Struct

from mrpvm.english.sentences.parsing import read
from mrpvm.english.words.lexicon import AUXILIARIES, INTERROGATIVES, PREPOSITIONS, listed, pattern, patterns
from mrpvm.english.words.reading import denies, is_past, sense
from mrpvm.english.words.text import words
from mrpvm.text_cache import TextCache

type Kind = Literal["comparison", "list", "steps", "summary", "account", "reason", "manner", "chain"]
type _Forms = Sequence[tuple[Kind, re.Pattern[str]]]

SENTENCES_MAX = 8
"""Sentences of an answer unless more are asked for."""
_ASKED_MAX = 40
_LEAD = pattern("requests.lead")
_COUNT = pattern("requests.count")
_NEAR = 6
"""A request is named among so many words of a message that is no question."""
_TOPICS_OF_WISHES = ("comparison", "chain", "summary")
_FROM_SOURCES = (*_TOPICS_OF_WISHES, "steps")
_TOPIC = re.compile(r" (?:of|on|about|for|between|to|from|covering|concerning|vs|versus)\b", re.IGNORECASE)
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
           "ten": 10}  # fmt: skip
_UNCOUNTED = frozenset(("a", "few", "some", "several"))
_KINDS: Sequence[Kind] = ("comparison", "chain", "reason", "steps", "manner", "summary", "list", "account")
_FORMS: _Forms = [(kind, pattern(f"requests.{kind}")) for kind in _KINDS]
_WISH = pattern("requests.wish")
_WISHED = cast(_Forms, patterns("requests.wished"))
_ASKED = cast(_Forms, patterns("requests.asked"))
"""What names the kind of a request somewhere in a wish ("I need the gist of it"), and in a question."""
_ENDS = pattern("requests.ends")
_TOLD = pattern("requests.told")
"""Requests about the conversation itself: "what did I tell you about Ida", "summarise our conversation"."""
_ASKER = frozenset(("me", "us", "myself", "ourselves"))
_PARTS = re.compile(r",\s*(?:and\s+)?|(?<!\s)\s+(?:and|with|to|versus|vs\.?|or|from)\s+", re.IGNORECASE)
_ASIDE = pattern("requests.aside")
_READER = pattern("requests.reader")
"""For whom a summary is: "for a colleague who was not there"."""
_EMPTY = frozenset(map(sense, listed("empty_requests")))
_PRESENTING = listed("presenting_verbs")
_WORKING = listed("work_verbs") - _PRESENTING
_FILLERS = frozenset(map(sense, listed("request_fillers")))
_WHOLE = frozenset(map(sense, listed("whole_texts")))
"""Words for a text or its contents: a request for a summary of the story names nothing that the text contains."""


class Request(Struct, frozen=True, kw_only=True):
    """A request for an answer of several statements.

    `wanted` are the senses of its topic, none if the whole text is meant, and `names` those of them that are names.
    `things` are the names of the compared things, or the two ends of a chain. `is_ordered` is true for an imperative
    ("Explain why ...") and false for a question that one sentence may answer ("Why ...?"). `is_of_told` asks for
    statements of the conversation and not of documents, `is_of_asker` for the asker's statements about himself.
    `denies` is true if the request contains a negation ("Why did he not come?").
    """

    kind: Kind
    wanted: frozenset[str] = frozenset()
    things: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    sentences: int = SENTENCES_MAX
    is_ordered: bool = True
    is_of_told: bool = False
    is_of_asker: bool = False
    denies: bool = False

    @property
    def takes_several(self) -> bool:
        """Return whether several sentences that stand together may be needed."""
        return self.is_ordered or self.kind == "reason"


@TextCache
def request_of(text: str) -> Request | None:
    """Return the request of a message, None if it asks for a fact or for nothing."""
    bare = " ".join(text.split()).strip("\"'\u201c\u201d\u2018\u2019 ")
    wording = _LEAD.sub("", bare.rstrip("?.! "))
    count = _COUNT.search(wording)
    number = _number(count["count"]) if count is not None else 0
    if count is not None and (number or count["count"].lower() in _UNCOUNTED):
        wording = wording.replace(count.group(), "")
    request = _request(wording)
    if request is None:
        return None
    names = _names(wording) & request.wanted.union(*map(senses_of, request.things))
    return replace(request, names=names, denies=denies(wording), sentences=min(number, _ASKED_MAX) or SENTENCES_MAX)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _COUNTS.get(text.lower(), 0)


def _told(wording: str) -> Request | None:
    """Return a request for what was told; what is known of a thing may be in documents too."""
    match = _TOLD.match(wording)
    if match is None:
        return None
    about = (match["about"] or "").lower()
    is_known = re.search(r"\byou (?:still )?(?:know|remember)\b", wording, re.IGNORECASE) is not None
    if about and about not in _ASKER and is_known:
        return Request(kind="account", wanted=senses_of(about))
    wanted = frozenset[str]() if about in _ASKER else senses_of(about)
    return Request(kind="summary", wanted=wanted, is_of_told=True, is_of_asker=about in _ASKER)


def _request(wording: str) -> Request | None:
    if account := _told(wording):
        return account
    for kind, form in _FORMS:
        if match := form.search(wording):
            return _of_kind(kind, wording, match[match.lastgroup or 0])
    return _named_within(wording)


def _named_within(wording: str) -> Request | None:
    """Return the request whose kind is named somewhere in a message, its topic being what is left of the message."""
    wish = _WISH.match(wording)
    bare = wording[wish.end() :] if wish else wording
    said = words(bare)
    is_question = (
        not wish
        and said[:1]
        and said[0] not in _PRESENTING
        and (said[0] in AUXILIARIES or not INTERROGATIVES.isdisjoint(said))
    )
    for kind, form in _ASKED if is_question else _WISHED:
        if match := form.search(bare):
            topic = f"{bare[: match.start()]} {bare[match.end() :]}"
            request = _of_kind(kind, wording, topic)
            if is_question and kind == "comparison" and len(request.things) < 2:
                return None
            is_ordered = not is_question or kind in ("comparison", "chain", "summary")
            return replace(request, wanted=request.wanted - _FILLERS, is_ordered=is_ordered)
    return None


def names_request(message: str, *, is_order: bool, is_verbless: bool) -> bool:
    """Return whether a message that is no question names a request for what sources say.

    "Condense the report", "I need the gist of the report", and without a verb "The essentials on the ferry". What tells
    something does not: "Everything arrived", "I need the list by Friday", "Key points: budget, staff".
    """
    named = _named(message)
    if named is None:
        return False
    if is_order and not named.is_wish and not named.before:
        tells = ":" in message or not AUXILIARIES.isdisjoint(words(message))  # "Cause of the fire was a toaster"
        return named.kind != "list" and not tells
    kinds = _TOPICS_OF_WISHES if named.is_wish else _FROM_SOURCES
    is_presented = named.is_wish or is_verbless or (is_order and named.before[:1] and named.before[0] in _PRESENTING)
    return bool(is_presented) and named.kind in kinds and named.has_topic and len(named.before) < _NEAR


def is_work_on_sources(message: str) -> bool:
    """Return whether what is put as work has its answer in sources: "Write a summary of the report", not "a poem"."""
    named = _named(message)
    if named is None or (named.before[:1] and named.before[0] in _WORKING):
        return False  # "Sort these by date" is about what the message holds
    return named.kind in _FROM_SOURCES and PREPOSITIONS.isdisjoint(named.before)


class _Named(Struct, frozen=True):
    """What names a request in a message: its kind, the words before it, and whether its topic follows."""

    kind: Kind
    before: Sequence[str]
    has_topic: bool
    is_wish: bool


def _named(message: str) -> _Named | None:
    """Return what names a request in a message that is no question; None also for the speaker's own affairs."""
    wording = _READER.sub("", _LEAD.sub("", " ".join(message.split())))
    wish = _WISH.match(wording)
    bare = wording[wish.end() :] if wish else wording
    if "my" in words(bare):
        return None
    for kind, form in _WISHED:
        if match := form.search(bare):
            before, behind = words(bare[: match.start()]), bare[match.end() :]
            is_listed = kind == "comparison" and behind.startswith(":")
            has_topic = match[0].endswith(" of") or _TOPIC.match(behind) is not None
            is_near = PREPOSITIONS.isdisjoint(before) and (":" not in bare or is_listed)
            return _Named(kind, before, is_near and (has_topic or is_listed), wish is not None)
    return None


def _of_kind(kind: Kind, wording: str, topic: str) -> Request:
    if kind == "comparison":
        return Request(kind=kind, wanted=senses_of(topic), things=_compared(topic))
    if kind == "chain":
        return _chain(topic)
    if kind == "manner" and re.search(r"\bhow\b", wording, re.IGNORECASE) and any(map(is_past, topic.lower().split())):
        kind = "reason"  # "how the well was found" asks for its causes, "how the well works" for the facts around it
    if kind == "summary":
        topic = _READER.sub("", topic)
    is_question = kind in ("list", "reason") and wording.lower().startswith(("what", "which", "why", "how"))
    return Request(
        kind=kind, wanted=senses_of(topic) - (_WHOLE if kind == "summary" else set()), is_ordered=not is_question
    )


def _chain(topic: str) -> Request:
    """Return the request for a chain, with its ends if they are named."""
    wanted, match = senses_of(topic) - _WHOLE, _ENDS.match(topic)
    if match is None:
        return Request(kind="chain", wanted=wanted)
    start, end = match["start"] or match["cause"] or "", match["end"] or match["effect"] or match["last"]
    return Request(kind="chain", wanted=wanted, things=(start, end))


def _compared(things: str) -> tuple[str, ...]:
    names = (part.strip(" .?:") for part in _PARTS.split(_ASIDE.sub("", things.strip())))
    return tuple(name for name in dict.fromkeys(names) if name)


def _names(text: str) -> frozenset[str]:
    return frozenset(word.sense for word in read(text).words if word.is_name)


def senses_of(text: str) -> frozenset[str]:
    """Return the senses of the words that name a request's topic."""
    return frozenset(word.sense for word in read(text).words if not word.is_pronoun) - _EMPTY
