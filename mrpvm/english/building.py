"""Clauses under construction: opened, closed, and given their phrases."""

from dataclasses import replace

from mrpvm.english.lexicon import BE_FORMS, DO_FORMS, HAVE_FORMS, TIME_WORDS
from mrpvm.english.lookahead import Lookahead
from mrpvm.english.reading import sense
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.tagging import is_number
from mrpvm.english.times import names_time


class Building(Lookahead):
    """Puts phrases and verbs where they belong."""

    def _new_main(self) -> None:
        while self.top.outer is not None and self.top.link != "paren":
            self.top.end = self.place
            self.top = self.top.outer
        base = self.top
        base.end = self.place
        link, outer, subject = (base.link, base.outer, base.subject) if base.link == "paren" else ("", None, None)
        self.top = Clause(link=link, outer=outer, start=self.place + 1, subject=subject)
        self.clauses.append(self.top)
        self.last, self.joins = None, False

    def _nest(self, link: str, subject: Phrase | None = None) -> Clause:
        inner = Clause(link=link, outer=self.top, start=self.place, subject=subject)
        self.clauses.append(inner)
        self.top = inner
        self.preposition, self.joins = "", False
        return inner

    def _pop(self) -> None:
        self.top.end = self.place
        if self.top.outer is not None:
            self.top = self.top.outer
        self.preposition = ""

    def _leave(self, link: str) -> None:
        while self.top.outer is not None and self.top.link != link:
            self._pop()
        if self.top.link == link:
            self._pop()

    def _set_verb(self, text: str, place: int) -> None:
        base = "have" if text in HAVE_FORMS else "be" if text in BE_FORMS else "do" if text in DO_FORMS else text
        self.top.verb = sense(base)
        self.top.verb_text = text
        self.top.verb_place = place
        self.preposition, self.joins, self.forced_verb = "", False, False

    def attach(self, phrase: Phrase) -> None:
        """Give a phrase its role in the clause being built."""
        top = self.top
        if phrase.determiner == "no" and not top.is_negated:
            top.is_negated = True
        if self.preposition:
            self._modify(phrase)
        elif not top.verb and top.subject is None:
            top.subject = phrase
        elif not top.verb:
            self._between(phrase)
        elif len(top.objects) > 1 and top.objects[-1].others and top.objects[-1].others[-1].end == phrase.start - 1:
            self._share_deed(phrase)
        else:
            top.objects += (phrase,)
        if not (self.preposition == "of" and self.last is not None and self.last.end == phrase.end):
            self.last = phrase
        self.preposition = ""

    def _share_deed(self, phrase: Phrase) -> None:
        """Open a clause with two objects of its own: "gave Anna a book and Bert a game"."""
        *before, last = self.top.objects
        self.top.objects = (*before, replace(last, others=last.others[:-1]))
        self.top = replace(self.top, objects=(last.others[-1], phrase))
        self.clauses.append(self.top)

    def _modify(self, phrase: Phrase) -> None:
        top = self.top
        if self.preposition == "of" and self.last is not None and self.last.end == self.preposition_place - 1:
            held = owned(self.last, phrase)
            self._replace(self.last, held)
            if top.subject is held or held in top.objects or any(held is item for _, item in top.modifiers):
                phrase = held
                self.last = held
                return
        if not self._share_gap(phrase):
            top.modifiers += ((self.preposition, phrase),)

    def _share_gap(self, phrase: Phrase) -> bool:
        """Open a clause that leaves out the verb: "bread is sold in the morning and cake in the afternoon"."""
        top = self.top
        for place, (word, item) in enumerate(top.modifiers):
            if (
                word == self.preposition
                and item.others
                and item.others[-1].end == self.preposition_place - 1
                and names_time(item.head_text) == names_time(phrase.head_text)  # not "in Lund and Bern in summer"
            ):
                before, thing = top.modifiers[:place], item.others[-1]
                top.modifiers = (*before, (word, replace(item, others=item.others[:-1])), *top.modifiers[place + 1 :])
                changed = {"objects": (*top.objects[:-1], thing)} if top.objects else {"subject": thing}
                self.top = replace(top, modifiers=(*before, (word, phrase)), **changed)
                self.clauses.append(self.top)
                return True
        return False

    def _between(self, phrase: Phrase) -> None:
        """Place a phrase behind the subject and before the verb: an apposition, or the real subject behind a date."""
        before = self._at(-1)
        subject = self.top.subject
        if subject is None or before == ",":
            return
        later = subject.head_text in TIME_WORDS and self.tokens[subject.end + 1] in ("later", "ago", "before", "after")
        if subject.end == phrase.start - 1 or later:
            self.top.modifiers += (("", subject),)
            self.top.subject = phrase

    def extend(self, phrase: Phrase) -> bool:
        """Add a member to the enumeration that the last phrase belongs to."""
        if self.last is None:
            return False
        joined = _joined(self.last, phrase)
        if not self._replace(self.last, joined):
            return False
        self.last = joined
        return True

    def _replace(self, old: Phrase, new: Phrase) -> bool:
        top = self.top
        if top.subject is old:
            top.subject = new
            return True
        if any(item is old for item in top.objects):
            top.objects = tuple(new if item is old else item for item in top.objects)
            return True
        if any(item is old for _, item in top.modifiers):
            top.modifiers = tuple((word, new if item is old else item) for word, item in top.modifiers)
            return True
        return False

    def _prepose(self, term: str) -> None:
        if self._at(1) in ("i", "he", "she", "we", "they"):
            return  # "from then on she ..."
        if term in ("about", "around") and self.preposition and is_number(self._at(1) or ","):
            return  # "at about eight"
        excluded = self._at(-1) == "except" or (self._at(-1) == "not" and self._at(-2) in ("but", ","))
        self.preposition = "except" if excluded else term
        self.preposition_place = self.place
        self.joins = False

    def _phrase(self) -> None:
        phrase = self.phrases.read(self.place, self.is_verb)
        if self.joins and self.extend(phrase):
            pass
        else:
            self.attach(phrase)
        self.place = phrase.end + 1
        self.joins = False


def _joined(first: Phrase, other: Phrase) -> Phrase:
    return replace(first, others=(*first.others, other))


def owned(thing: Phrase, owner: Phrase) -> Phrase:
    """Return `thing` with what stands behind its "of"."""
    if thing.others:  # what stands behind the last member of an enumeration belongs to it
        return replace(thing, others=(*thing.others[:-1], owned(thing.others[-1], owner)))
    return replace(
        thing, owner=thing.owner | owner.senses | owner.owner, owned_by=(*thing.owned_by, owner), end=owner.end
    )
