"""What a clause says besides, in other words: a table of rules on statements, applied once when a sentence is read."""

from collections.abc import Iterator
from dataclasses import replace

from mrpvm.english.lexicon import BE_FORMS
from mrpvm.english.reading import sense
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.verbs import verb_forms

_BE, _HAVE, _WORK, _BELONG = (sense(word) for word in ("be", "have", "work", "belong"))
_RECEIVED = {
    sense(given): (sense(base), third, past)
    for given, base, third, past in (
        ("sell", "buy", "buys", "bought"),
        ("lend", "borrow", "borrows", "borrowed"),
        *(
            (word, "receive", "receives", "received")
            for word in ("give", "award", "hand", "present", "grant", "donate")
        ),
    )
}
"""What whoever it is given to does, by what the giver does."""
_PERMITTING = {sense("allow"): False, sense("permit"): False, sense("forbid"): True}
"""Verbs of permission, and whether they deny it."""


def in_other_words(clauses: tuple[Clause, ...]) -> Iterator[Clause]:
    """Yield the clauses that follow from those of a sentence."""
    for clause in clauses:
        yield from _set_beside(clause)
        for rule in (_received, _owned, _permitted, _dated, _occupied):
            found = rule(clause)
            if found is not None:
                yield replace(found, is_derived=True)


def _set_beside(clause: Clause) -> Iterator[Clause]:
    """Yield "Ida is the warden" for "the warden, Ida", which holds whatever else is said or denied of her."""
    for phrase in clause.phrases:
        for role in (phrase, *phrase.owned_by):
            for name in role.aliases:
                if name.is_name:
                    yield Clause(
                        start=clause.start, end=clause.end, subject=name, verb=_BE, verb_text="is",
                        verb_place=clause.verb_place, auxiliaries=frozenset(("is",)),
                        objects=(replace(role, aliases=()),), is_derived=True,
                    )  # fmt: skip


def _form(clause: Clause, third: str, past: str) -> str:
    """Return the form of another verb that keeps the tense."""
    is_past = clause.is_passive or "past" in verb_forms(clause.verb_text)
    return past if is_past else third


def _of_active(clause: Clause) -> frozenset[str]:
    return clause.auxiliaries - BE_FORMS if clause.is_passive else clause.auxiliaries


def _received(clause: Clause) -> Clause | None:
    """Return "Ida bought a boat from Tom" for "Tom sold Ida a boat" and its passives."""
    side = _RECEIVED.get(clause.verb)
    if side is None or clause.subject is None:
        return None
    base, third, past = side
    to = next((phrase for word, phrase in clause.modifiers if word == "to"), None)
    goal: Phrase | None
    things: tuple[Phrase, ...]
    if clause.is_passive:
        goal, things = (to, (clause.subject,)) if to else (clause.subject, clause.objects)
    elif to is None and len(clause.objects) == 2:
        goal, things = clause.objects[0], clause.objects[1:]
    else:
        goal, things = to, clause.objects
    if goal is None or not things:
        return None
    giver = clause.agent
    rest = tuple(item for item in clause.modifiers if item[0] not in ("to", "by"))
    return replace(
        clause, subject=goal, verb=base, verb_text=_form(clause, third, past), auxiliaries=_of_active(clause),
        is_passive=False, objects=things, modifiers=(*rest, *([("from", giver)] if giver else [])),
    )  # fmt: skip


def _owned(clause: Clause) -> Clause | None:
    """Return "Ida owns the mill" for "the mill belongs to Ida"."""
    owner = next((phrase for word, phrase in clause.modifiers if word == "to"), None)
    if clause.verb != _BELONG or owner is None or clause.subject is None:
        return None
    rest = tuple(item for item in clause.modifiers if item[1] is not owner)
    return replace(
        clause, subject=owner, verb=sense("own"), verb_text=_form(clause, "owns", "owned"), objects=(clause.subject,),
        modifiers=rest,
    )  # fmt: skip


def _permitted(clause: Clause) -> Clause | None:
    """Return "guests may swim" for "guests are allowed to swim", and its denial for "forbidden"."""
    outer = clause.outer
    if clause.link != "to" or outer is None or not outer.is_passive or outer.verb not in _PERMITTING:
        return None
    denied = _PERMITTING[outer.verb]
    return replace(
        clause, link="", outer=outer.outer, subject=outer.subject, auxiliaries=frozenset(("may",)),
        is_negated=outer.is_negated != denied, modifiers=(*outer.modifiers, *clause.modifiers),
    )  # fmt: skip


def _dated(clause: Clause) -> Clause | None:
    """Return "my exam is on Friday" for "I have an exam on Friday"."""
    subject, things = clause.subject, clause.objects
    has_one = clause.verb == _HAVE and subject is not None and len(things) == 1 and things[0].determiner in ("a", "an")
    if not has_one or subject is None or not clause.modifiers or clause.is_negated:
        return None
    pronoun = {"i": "my", "we": "our"}.get(subject.pronoun, "")
    if not (pronoun or subject.is_name):
        return None
    thing = replace(things[0], determiner="", owner_pronoun=pronoun, owner=frozenset() if pronoun else subject.senses)
    form = "was" if clause.verb_text == "had" else "is"
    return replace(clause, subject=thing, verb=_BE, verb_text=form, auxiliaries=frozenset((form,)), objects=())


def _occupied(clause: Clause) -> Clause | None:
    """Return "Ida is a cook" for "Ida works as a cook"."""
    role = next((phrase for word, phrase in clause.modifiers if word == "as"), None)
    if clause.verb != _WORK or role is None or clause.subject is None:
        return None
    form = "was" if "past" in verb_forms(clause.verb_text) else "is"
    return replace(clause, verb=_BE, verb_text=form, auxiliaries=frozenset((form,)), objects=(role,), modifiers=())
