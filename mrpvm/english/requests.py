"""What a message asks to be put together: a comparison, a list, steps, a summary, an account, a reason or a chain."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from mrpvm.english.lexicon import word_class
from mrpvm.english.reading import is_past, read, sense

type Kind = Literal["comparison", "list", "steps", "summary", "account", "reason", "manner", "chain"]

SENTENCES_MAX = 8
"""Sentences of an answer unless more are asked for."""
_ASKED_MAX = 40
_LEAD = re.compile(
    r"^(?:(?:please|now|then|and|also|ok|okay)\b[\s,]*|(?:can|could|would|will) you (?:please )?"
    r"|i(?:'d| would) like you to |i want you to )+",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r",?\s*\b(?:in|with|using) (?:at most |up to |about |no more than )?(?P<count>\d{1,2}|[a-z]+) "
    r"(?:\w+ )?(?:sentences?|points?|lines?|items?|statements?|steps?)\b",
    re.IGNORECASE,
)
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
           "ten": 10}  # fmt: skip
_UNCOUNTED = frozenset(("a", "few", "some", "several"))
_COMPARE = re.compile(
    r"^(?:compare|contrast|(?:make|give|draw)(?: (?:me|us))? a comparison (?:of|between)|how (?:do|does|did) "
    r"(?=.+ (?:compare|differ)\b))\s*(?P<things>.+)$"
    r"|\bdifferences? between (?P<between>.+)$|^(?P<versus>.+ (?:versus|vs\.?) .+)$",
    re.IGNORECASE,
)
_STEPS = re.compile(
    r"^(?:what (?:is|are) |list |give |describe |explain )?(?:the )?(?:(?:right|correct|exact) )?"
    r"(?:steps?|procedure|process|instructions?|way|order of steps) (?:to|for|of|when) (?P<task>.+)$"
    r"|^(?:explain |describe |show me )?how (?:to|do (?:i|we|you)|can (?:i|we|you)) (?P<how>.+)$",
    re.IGNORECASE,
)
_CHAIN = re.compile(
    r"^(?:trace|follow|retrace|walk (?:me|us) through|reconstruct|give(?: me| us)? the chain|what (?:is|was) the chain|"
    r"(?:describe|explain|tell (?:me|us)|list|show(?: me| us)?) (?:the )?(?:chain|sequence|series|course|order) of)\b"
    r"\s*(?P<topic>.*)$",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"^(?P<about>.*?)\b(?:from|between|starting (?:with|at|from)) (?P<start>.+?),? "
    r"(?:(?:up |all the way )?to|until|till|through to|and) (?P<end>.+)$"
    r"|^(?:how |the way )?(?P<cause>.+?) (?:led to|leads to|caused|causes|resulted in|ended (?:up )?in|brought about"
    r"|ended up (?:with|in|at)) (?P<effect>.+)$"
    r"|^(?P<before>.*?)\b(?:that |which )?(?:led to|leading (?:up )?to|caused|brought about|ended (?:with|in)) "
    r"(?P<last>.+)$",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^(?:explain|describe|tell (?:me|us)|say|show(?: me| us)?) (?:(?:me|us) )?(?:why|(?:for )?what reason"
    r"|the (?:reasons?|causes?) (?:why|for|of|that)|what (?:caused|led to|made|brought about))\s+(?P<topic>.+)$",
    re.IGNORECASE,
)
_MANNER = re.compile(
    r"^(?:explain|describe|tell (?:me|us)|show(?: me| us)?) (?:(?:to )?(?:me|us) )?(?:(?P<how>how)|in what way"
    r"|what happen(?:s|ed)(?: when| if| after| before| to)?)\s+(?P<topic>.+)$",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"^(?:(?:summari[sz]e|sum up|outline|recap(?:itulate)?|retell|recount|condense|(?:give|write|make)(?: me| us)? "
    r"(?:an? |the )?(?:(?:short|brief|quick) )?(?:summary|overview|outline|synopsis|recap)(?: of)?)(?=\s|$)|what "
    r"(?:is|are) the (?:main|key) (?:points?|ideas?|facts?|events?) (?:of|in)\s|what happen(?:s|ed) in\s)"
    r"\s*(?P<topic>.*)$"
    r"|^(?:an? |the )?(?:(?:short|brief|quick) )?(?:summary|overview|synopsis) (?:of|on) (?P<of>.+)$",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"^(?:list|enumerate|name(?= (?:all|every|the)\b)|what are|which are)\s+(?P<topic>.+)$", re.IGNORECASE
)
_SAYING = "told|tell|said|say|shared|share|mentioned|mention|talked|talk|spoke|speak|discussed|discuss"
_TOLD = re.compile(
    r"^(?:(?:remind (?:me|us)(?: of)?|tell (?:me|us)|repeat|list|recall|summari[sz]e|sum up|recap) )?"
    r"(?:what|everything|all|anything)(?: that)? (?:(?:else )?(?:do|did|have|has) )?"
    rf"(?:(?:(?:i|we|you)(?:['\u2019]ve)?(?: have| just| already)? (?:{_SAYING})(?: (?:to )?(?:you|me|us))?"
    r"|you (?:still )?(?:know|remember|learn|learned|learnt|have learned|have learnt))"
    r"(?: (?:so far|before|earlier|today|until now))?(?: about(?: (?P<about>.+?))?)?)"
    r"(?: so far| before| earlier| today)?$"
    r"|^(?:summari[sz]e|sum up|recap|(?:give (?:me|us) )?an? (?:short |brief )?(?:summary|recap) of) "
    r"(?:our|this|the) (?:whole )?(?:conversation|chat|discussion|session)(?: so far)?$",
    re.IGNORECASE,
)
"""What goes back to the conversation itself: "what did I tell you about Ida", "summarise our conversation"."""
_ASKER = frozenset(("me", "us", "myself", "ourselves"))
_ACCOUNT = re.compile(
    r"^(?:explain|describe|analy[sz]e|characteri[sz]e|diagnose|evaluate|assess|tell (?:me|us) (?:(?:more|everything"
    r"|all|something|what you know) )?(?:there is )?(?:about|of)|(?:say|give)(?: me| us)? (?:more|everything|all)"
    r"(?: you know)? (?:about|on)|what (?:do you|can you) (?:know|say|tell me|tell us) about|what about)"
    r"\s+(?P<topic>.+)$",
    re.IGNORECASE,
)
_PARTS = re.compile(r",\s*(?:and\s+)?|\s+(?:and|with|to|versus|vs\.?|or|from)\s+", re.IGNORECASE)
_ASIDE = re.compile(
    r"^(?:both|and|of)\s+|\s+(?:in terms of|with regard to|regarding|compared?|differ|by|for)\b.*$", re.IGNORECASE
)
_EMPTY = frozenset(
    sense(word)
    for word in word_class(
        "kind type sort thing work happen way difference everything anything something all everyone everybody person "
        "people detail chain event sequence series course path journey route order cause reason fact "
        "get make become come go find out back begin start beginning end origin foundation discovery life career role"
    )
)
_WHOLE = frozenset(
    sense(word)
    for word in word_class(
        "story text document article report passage book page content chapter tale narrative plot summary whole "
        "history main point key idea conversation file source material above"
    )
)
"""Words for a text or for what it holds: who asks for a summary of the story names nothing that stands in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be put together.

    `wanted` are the senses of what it is about, none where the whole text is meant, `names` those of them that are
    names; `things` are the names of what is compared, or the two ends of a chain. `is_ordered` tells an order
    ("Explain why ...") from a question that the grammar may answer with one sentence ("Why ...?"). `is_of_told` asks
    for what was told in the conversation and not in documents, `is_of_asker` for what the asker told of himself.
    """

    kind: Kind
    wanted: frozenset[str] = frozenset()
    things: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    sentences: int = SENTENCES_MAX
    is_ordered: bool = True
    is_of_told: bool = False
    is_of_asker: bool = False


def request_of(text: str) -> Request | None:
    """Return what a message asks to be put together, None where it asks for a fact or for nothing."""
    bare = " ".join(text.split()).strip("\"'\u201c\u201d\u2018\u2019 ")
    asked = _LEAD.sub("", bare.rstrip("?.! "))
    count = _COUNT.search(asked)
    number = _number(count["count"]) if count is not None else 0
    if count is not None and (number or count["count"].lower() in _UNCOUNTED):
        asked = asked.replace(count.group(), "")
    found = _request(asked)
    if found is None:
        return None
    names = _names(asked) & found.wanted.union(*map(senses_of, found.things))
    return replace(found, names=names, sentences=min(number, _ASKED_MAX) or SENTENCES_MAX)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _COUNTS.get(text.lower(), 0)


def _told(asked: str) -> Request | None:
    """Return a request for what was told; what is known of a thing may stand in documents as well."""
    found = _TOLD.match(asked)
    if found is None:
        return None
    about = (found["about"] or "").lower()
    is_known = re.search(r"\byou (?:still )?(?:know|remember)\b", asked, re.IGNORECASE) is not None
    if about and about not in _ASKER and is_known:
        return Request(kind="account", wanted=senses_of(about))
    wanted = frozenset[str]() if about in _ASKER else senses_of(about)
    return Request(kind="summary", wanted=wanted, is_of_told=True, is_of_asker=about in _ASKER)


def _request(asked: str) -> Request | None:
    if found_told := _told(asked):
        return found_told
    if found := _COMPARE.search(asked):
        return Request(kind="comparison", things=_compared(found["things"] or found["between"] or found["versus"]))
    if found := _CHAIN.match(asked):
        return _chain(found["topic"])
    if found := _REASON.match(asked):
        return Request(kind="reason", wanted=senses_of(found["topic"]))
    if found := _STEPS.match(asked):
        return Request(kind="steps", wanted=senses_of(found["task"] or found["how"]))
    if found := _MANNER.match(asked):
        # "how the well was found" asks what led to it, "how the well works" what goes on around it
        is_event = found["how"] and any(map(is_past, found["topic"].lower().split()))
        return Request(kind="reason" if is_event else "manner", wanted=senses_of(found["topic"]))
    if found := _SUMMARY.match(asked):
        return Request(kind="summary", wanted=senses_of(found["topic"] or found["of"] or "") - _WHOLE)
    if found := _LIST.match(asked):
        is_order = not asked.lower().startswith(("what", "which"))
        return Request(kind="list", wanted=senses_of(found["topic"]), is_ordered=is_order)
    if found := _ACCOUNT.match(asked):
        return Request(kind="account", wanted=senses_of(found["topic"]))
    if re.match(r"why\b", asked, re.IGNORECASE):
        return Request(kind="reason", wanted=senses_of(asked[3:]), is_ordered=False)
    return None


def _chain(topic: str) -> Request:
    """Return the chain between the two ends that a request names, or up to its one end."""
    found = _ENDS.match(topic)
    if found is None:
        of_event = re.match(r"how\s+(?P<event>.+)", topic, re.IGNORECASE)
        things = ("", of_event["event"]) if of_event else ()
        return Request(kind="chain", wanted=senses_of(topic) - _WHOLE, things=things)
    about = senses_of(found["about"] or "") - _WHOLE
    start, end = found["start"] or found["cause"] or "", found["end"] or found["effect"] or found["last"]
    return Request(kind="chain", wanted=about, things=(start, end))


def _compared(things: str) -> tuple[str, ...]:
    names = (part.strip(" .?:") for part in _PARTS.split(_ASIDE.sub("", things.strip())))
    return tuple(name for name in dict.fromkeys(names) if name)


def _names(text: str) -> frozenset[str]:
    return frozenset(word.sense for word in read(text).words if word.is_name)


def senses_of(text: str) -> frozenset[str]:
    """Return the senses of the words that say what a request is about."""
    return frozenset(word.sense for word in read(text).words if not word.is_pronoun) - _EMPTY
