"""Finds noun phrases in a sequence of tokens."""

from collections.abc import Callable

from mrpvm.english.sentences.structure import Phrase
from mrpvm.english.words import tagging
from mrpvm.english.words.lexicon import BASE_FORMS, CONJUNCTIONS, DETERMINERS, POSSESSIVES, listed, word_class
from mrpvm.english.words.reading import sense

type Judge = Callable[[int, list[int]], bool]
"""Returns whether the word at a place is a verb, given the phrase's words so far by their places."""
_NOTHING = frozenset(("nobody", "nothing", "none", "no-one"))


class PhraseReader:
    """Reads noun phrases by the places where they begin."""

    def __init__(self, tokens: tuple[str, ...], surfaces: tuple[str, ...]) -> None:
        self.tokens = tokens
        self.surfaces = surfaces

    def opens(self, place: int) -> bool:
        """Return whether a phrase begins at `place`."""
        if place >= len(self.tokens):
            return False
        term = self.tokens[place]
        if term in DETERMINERS or term in POSSESSIVES or term in tagging.PRONOUNS or term in _NOTHING:
            return True
        return tagging.is_nominal(term)

    def is_name(self, place: int) -> bool:
        """Return whether a term is a name: capitalised, and not only because it begins the sentence."""
        surface = self.surfaces[place]
        if not surface[0].isupper():
            return False
        if place > 0 and self.tokens[place - 1] not in ("\u2014", ":"):
            return True
        term = self.tokens[place]
        follows = self.surfaces[place + 1 : place + 2]
        return not tagging.verb_forms(term) and tagging.is_nominal(term) and bool(follows) and term not in BASE_FORMS

    def phrase_at(self, place: int, is_verb: Judge, stop: int | None = None) -> Phrase:
        """Return the phrase at `place`; it ends before a word that is a verb according to `is_verb`."""
        tokens, start = self.tokens, place
        determiner, owner_pronoun = "", ""
        if tokens[place] in POSSESSIVES and not self._stands_alone(place):
            owner_pronoun = tokens[place]
            place += 1
        elif tokens[place] in DETERMINERS and not self._stands_alone(place):
            determiner = tokens[place]
            place += 1
            if self.at(place) in POSSESSIVES or self.at(place) in DETERMINERS:  # "all the maps", "both his sons"
                owner_pronoun = tokens[place] if tokens[place] in POSSESSIVES else ""
                place += 1
        elif tokens[place] in tagging.PRONOUNS or tokens[place] in _NOTHING or tokens[place] in DETERMINERS:
            return self._pronoun(place)
        kept: list[int] = []
        owners: tuple[Phrase, ...] = ()
        while place < len(tokens) and (stop is None or place < stop):
            term = tokens[place]
            if kept and tokens[place : place + 3] == ("free", "of", "charge"):
                break
            modifies = tagging.is_adverb(term) and self._modifies(place, kept)
            tells_which = modifies and term in _TELLING_WHICH
            if modifies and not tells_which:
                place += 1
                continue
            is_head = tagging.is_adverb(term) and not kept and bool(determiner or owner_pronoun)  # "on the back"
            if (
                not (tagging.is_nominal(term) or is_head or tells_which)
                or (kept and self._begins_anew(place, kept[-1]))
                or is_verb(place, kept)
            ):
                break
            kept.append(place)
            place += 1
            if term.endswith(("'s", "s'")) and place < len(tokens):
                owners = (self._phrase(start, kept, determiner, owner_pronoun, owners), *owners)
                determiner, kept, owner_pronoun = "the", [], ""
        if not kept:
            return self._pronoun(start)
        return self._phrase(start, kept, determiner, owner_pronoun, owners)

    def _begins_anew(self, place: int, last: int) -> bool:
        """Return whether a name or number after a common noun begins another phrase: "in spring Anna"."""
        if self.tokens[place] in ("last", "next") or self.tokens[place] in _PLACE_ADVERBS:
            return True
        if tagging.is_number(self.tokens[place]):
            named = self.surfaces[last][0].isupper() and self.tokens[place][0].isdigit()
            return (
                not tagging.is_number(self.tokens[last])
                and not named
                and self.tokens[last] not in ("first", "last", "next")
                and (self.at(place + 1) != "" and tagging.is_nominal(self.at(place + 1)))
                and not tagging.verb_forms(self.at(place + 1))
                and self.at(place + 2) != "than"
            )
        named, common = self.surfaces[place][0].isupper(), self.surfaces[last][0].islower()
        return named and common and place - last == 1 and self.tokens[last] in _DATES

    def _phrase(self, start: int, kept: list[int], determiner: str, pronoun: str, owners: tuple[Phrase, ...]) -> Phrase:
        tokens = self.tokens
        last = kept[-1]
        head = tokens[last].removesuffix("'s").rstrip("'")
        if tagging.is_number(head) and len(kept) > 1 and not tagging.is_number(tokens[kept[-2]]):
            head = tokens[kept[-2]]  # "plot 7": the noun is counted off
        return Phrase(
            start=start,
            end=last,
            head=sense(head),
            head_text=head,
            senses=frozenset(sense(tokens[at].removesuffix("'s").rstrip("'")) for at in kept),
            determiner=determiner,
            owner=frozenset().union(*(item.senses | {item.head} for item in owners)),
            owned_by=owners,
            owner_pronoun=pronoun,
            is_name=self.is_name(last) and not tagging.is_number(tokens[last]),
        )

    def _pronoun(self, place: int) -> Phrase:
        term = self.tokens[place]
        return Phrase(
            start=place, end=place, head=term, head_text=term, senses=frozenset(), pronoun=term,
            determiner="no" if term in _NOTHING else "",
        )  # fmt: skip

    def at(self, place: int) -> str:
        """Return the word at a place, empty outside the text."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else ""

    def _stands_alone(self, place: int) -> bool:
        following = self.at(place + 1)
        term = self.tokens[place]
        if term == "her" and term in tagging.OBJECT_PRONOUNS and following and not tagging.is_nominal(following):
            return not tagging.is_adverb(following)
        joins = not following or not (
            tagging.is_nominal(following)
            or following in DETERMINERS
            or following in POSSESSIVES
            or tagging.is_adverb(following)
        )
        return joins or following in CONJUNCTIONS or following in tagging.NEGATORS

    def _modifies(self, place: int, kept: list[int]) -> bool:
        """Return whether an adverb stands inside a phrase: "a very old boat"."""
        following = self.at(place + 1)
        before = self.at(place - 1)
        opened = not kept and (before in DETERMINERS or before in POSSESSIVES)
        return opened and bool(following) and tagging.is_nominal(following)


_TELLING_WHICH = word_class("first back home away outside inside upstairs downstairs")
"""Adverbs that distinguish things of one kind before a noun: "the first train", "the back door"."""
_PLACE_ADVERBS = frozenset(("outdoors", "indoors", "abroad", "upstairs", "downstairs"))
_DATES = listed("dates")
