"""Questions of guests and customers in the words in which houses, shops and services put the answers [BP-36 b].

What one buys is sold, what one finds somewhere is there, whom one asks for by his work has a title, and when one may
check in is when check-in begins.
"""

import re
from collections.abc import Iterator

_WHO = r"(?:i|we|you|one|guests|visitors|customers|people)"
_PARTICLE = r"(?P<verb>[a-z]{2,12}) (?P<particle>in|out|up|off)"
_MONEY = r"(?P<thing>(?:.+ )?(?:deposit|money|fee|payment|price))"
_PAYING = (
    r"(?P<thing>(?:credit |debit )?cards?|cash|cheques?|vouchers?|coins|euros|dollars|pounds|francs|paypal"
    r"|bank transfer)"
)
_PERSON = r"(?-i:(?:my|our|your|his|her) .+?|[A-Z]\w+(?: [A-Z]\w+)*)"
_MAY = rf"(?:can|could|may|must|should|do|will) {_WHO} (?:(?:have|need) to )?"
_REWORDINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"(?P<where>in|on|at|from|to|for|with|under|near|behind) (?P<ask>which|what) (?P<noun>.+?) "
        r"(?P<be>is|are|was|were) (?P<rest>.+)",
        ("{ask} {noun} {be} {rest} {where}",),
    ),
    (
        r"how many (?:minutes|hours|days|weeks|months|years) (?P<be>is|are|does|do) (?P<rest>.+)",
        ("how long {be} {rest}",),
    ),
    (rf"what (?:do|does) {_WHO} need (?P<deed>to [a-z]+ .+)", ("what is needed {deed}",)),
    (r"what is (?P<who>.+?) email address", ("what is {who} email",)),
    (r"what is (?P<who>.+?) phone number", ("what is {who} phone", "what is {who} number")),
    (r"what is my name", ("who am i",)),
    (r"what do i do(?: for a living| for work)?", ("what am i",)),
    (rf"what does (?P<who>{_PERSON}) do(?: for a living| for work)?", ("what is {who}",)),
    (r"until when (?P<rest>(?:can|may) .+)", ("by when {rest}",)),
    (rf"where {_MAY}(?:buy|get) (?P<thing>.+)", ("where is {thing} sold", "where is {thing} available")),
    (rf"(?:can|could|may) {_WHO} (?:get|buy) (?P<thing>.+)", ("is {thing} available",)),
    (
        rf"(?P<ask>when|where|how) (?:can|do|will) {_WHO} get {_MONEY} back",
        ("{ask} is {thing} returned", "{ask} is {thing} refunded"),
    ),
    (rf"(?:can|do|will) {_WHO} get {_MONEY} back", ("is {thing} returned", "is {thing} refunded")),
    (rf"where {_MAY}find (?P<thing>.+)", ("where is {thing}",)),
    (rf"(?:from when|when|at what time|what time) {_MAY}{_PARTICLE}", ("when does {verb}-{particle} start",)),
    (rf"until when {_MAY}{_PARTICLE}", ("when does {verb}-{particle} end",)),
    (rf"(?P<ask>(?:\w+ )?when|at what time|what time|where) {_MAY}{_PARTICLE}", ("{ask} is {verb}-{particle}",)),
    (r"(?:is|are) there (?:(?:a|an|any|some) )?(?P<thing>.+)", ("are {thing} available",)),
    (r"do we (?:have|offer) (?P<thing>.+)", ("is there {thing}",)),
    (r"(?:how much|what) (?:does|would|will) it cost to (?P<deed>.+)", ("for how much can one {deed}",)),
    (
        rf"(?:can|could|may) {_WHO} pay (?:in|by|with) (?:a )?{_PAYING}",
        ("do we accept {thing}", "is {thing} accepted"),
    ),
    (rf"do (?:you|we) (?:accept|take) {_PAYING}", ("can one pay with {thing}", "can one pay in {thing}")),
    (r"(?:is|are) (?P<thing>.+) (?:allowed|permitted)", ("are {thing} admitted", "are {thing} welcome")),
    (
        rf"(?:can|could|may) {_WHO} bring (?:an? )?(?P<thing>.+)",
        ("are {thing} allowed", "are {thing} admitted", "are {thing} welcome"),
    ),
    (r"what is the limit (?:of|for) (?P<thing>.+)", ("what is {thing} limited to",)),
    (
        r"how (?:quickly|fast|soon) (?P<do>do|does|did|will) (?P<who>.+) (?P<verb>[a-z]+)",
        ("how long {do} {who} take to {verb}",),
    ),
    (r"how much is it to (?P<deed>.+)", ("for how much can one {deed}",)),
    (
        r"(?:how much|what) (?:does|would|will) it cost to (?P<deed>(?:rent|hire|lease) .+)",
        ("for how much do we {deed}",),
    ),
)
"""Every wording of the patterns that match is tried, in this order."""
_PATTERNS = tuple((re.compile(rf"^{pattern}$", re.IGNORECASE), wordings) for pattern, wordings in _REWORDINGS)
_COST = re.compile(r"^(?:how much|what) (?:does|would) it cost to (?P<verb>[a-z]+)(?P<rest> .+)?$", re.IGNORECASE)
_ALLOWED = re.compile(r"^is it (?:allowed|permitted) to (?P<verb>[a-z]+)(?P<rest> .+)?$", re.IGNORECASE)
_SHORT = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")
"""Verbs whose last letter is doubled: "swim", "sit"."""
_DOER = re.compile(r"^who (?P<verb>[a-z]+) (?P<thing>.+)$", re.IGNORECASE)
_TITLES = {
    "owns": "owner", "manages": "manager", "leads": "leader", "directs": "director", "directed": "director",
    "founded": "founder", "designed": "designer", "invented": "inventor", "wrote": "author", "composed": "composer",
    "edits": "editor", "edited": "editor", "coaches": "coach", "trains": "trainer", "hosts": "host",
}  # fmt: skip
"""Deeds and what is called who does them, where nobody is called so without doing it."""


def service_wordings(question: str) -> Iterator[str]:
    """Give a question without its mark in other words.

    Args:
        question: with single spaces.
    """
    for pattern, wordings in _PATTERNS:
        found = pattern.match(question)
        if found:
            yield from (f"{wording.format(**found.groupdict())}?" for wording in wordings)
    if cost := _COST.match(question):
        yield f"how much does {_gerund(cost['verb'])}{cost['rest'] or ''} cost?"
    if allowed := _ALLOWED.match(question):
        yield f"is {_gerund(allowed['verb'])}{allowed['rest'] or ''} allowed?"
        yield f"are you allowed to {allowed['verb']}{allowed['rest'] or ''}?"
        yield f"may you {allowed['verb']}{allowed['rest'] or ''}?"
    if doer := _DOER.match(question):
        title = _TITLES.get(doer["verb"].lower())
        if title:
            yield f"who {'is' if doer['verb'].endswith('s') else 'was'} the {title} of {doer['thing']}?"


def _gerund(verb: str) -> str:
    if _SHORT.match(verb):
        return f"{verb}{verb[-1]}ing"
    return f"{verb}ing" if verb.endswith("ee") else f"{verb.removesuffix('e')}ing"
