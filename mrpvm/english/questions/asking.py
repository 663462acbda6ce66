"""Parses a question into a clause with a gap: the known roles of the answer, and the kind of phrase asked for."""

import re
from collections.abc import Mapping
from copy import replace

from msgspec import Struct, field

from mrpvm.english.messages.pragmatics import expand_is
from mrpvm.english.sentences.parsing import Parser, spelled_out, tokens_of
from mrpvm.english.sentences.structure import Clause, Phrase
from mrpvm.english.sentences.values import MEASURED_BY
from mrpvm.english.words.lexicon import (
    BE_FORMS,
    COLOURS,
    DO_FORMS,
    HAVE_FORMS,
    MODALS,
    PREPOSITIONS,
    by_form,
    listed,
    pattern,
)
from mrpvm.english.words.reading import sense, words_of
from mrpvm.english.words.tagging import (
    CONTRACTED,
    NEGATORS,
    PREDICATE_ADJECTIVES,
    bare_adverbs,
    is_adverb,
    is_auxiliary,
    is_nominal,
    verb_forms,
)
from mrpvm.text_cache import TextCache

_SUBJECTS = frozenset(("person", "thing", "owner", "count", "chosen", "kind", "amount"))
_WH = frozenset(("who", "whom", "what", "which", "whose", "where", "when", "why", "how"))
_WANTED_BY = {"who": "person", "whom": "person", "whose": "owner", "where": "place", "when": "time", "why": "reason"}
_MEASURES = by_form("asked_by_how")
_NOUNS = by_form("asked_by_noun")
_ATTRIBUTES = by_form("asked_attributes")
"""Nouns that name the kind of value asked for."""
_QUANTITIES = frozenset(("torque", "pressure", "voltage", "power", "angle", "speed"))
_EMPTY_ADVERBS = listed("empty_adverbs")
_LEAD = pattern("asking.lead")
_FOR_A_LIVING = re.compile(r"\bdo for (?:a living|work)\b", re.IGNORECASE)
"""A question of this form asks for somebody's occupation, not for a deed."""


class Query(Struct, frozen=True, kw_only=True):
    """What a question asks: a clause with a gap.

    `wants` is the kind of value: person, thing, place, time, duration, count, amount, reason, manner, owner, verdict,
    another measure or an attribute. `gap` is its role: "subject", "predicate", or "object" for any other. `noun` is the
    noun that is counted or chosen from, `measure` the word after "how" ("long"), `preposition`
    governs the gap. `conditions` are the clauses beside the main clause, `manners` the adverbs of manner and degree
    that the answer must have too, `bare` the adverbs of place and company. `limit` is the preposition of a question
    such as "by when". `words` are the words of the question by their senses.
    """

    wants: str
    gap: str
    clause: Clause
    noun: Phrase | None = None
    preposition: str = ""
    conditions: tuple[Clause, ...] = ()
    measure: str = ""
    manners: frozenset[str] = frozenset()
    limit: str = ""
    bare: frozenset[str] = frozenset()
    words: Mapping[str, str] = field(default_factory=dict)


@TextCache
def query_of(text: str, *, skipped_verbs: int = 0, ends_with_predicate: bool = False) -> Query | None:
    """Return what a question asks, or None if its form has no gap.

    Args:
        skipped_verbs: how many words after the first word of the subject are read as nouns although they may be
            verbs: one in "does a red light mean", none in "does the fee cover damage".
        ends_with_predicate: whether the word that ends the phrase after "is" is no part of the subject: "is the pump
            suitable", not "is the garden pump".
    """
    tokens, surfaces = tokens_of(bare_question(text))
    query = _Asker(tokens, surfaces, skipped_verbs, ends_with_predicate).query() if tokens else None
    return replace(query, words=words_asked(text)) if query else None


def words_asked(text: str) -> dict[str, str]:
    """Return the words that an answer to a question must contain, by their senses.

    A word after "how" is not among them, because it only names the measure: "how many", "how long".
    """
    tokens, surfaces = tokens_of(text)
    return {
        word.sense: word.text
        for word in words_of(surfaces)
        if not word.is_pronoun and not (word.place and tokens[word.place - 1] == "how")
    }


@TextCache
def bare_question(text: str) -> str:
    """Return a question without its introduction and with short forms written out."""
    bare = _LEAD.sub("", spelled_out(expand_is(" ".join(text.split()))).strip().rstrip("?.! "))
    return _FOR_A_LIVING.sub("do", bare)


class _Asker(Parser):
    """Parses a question from its first word on.

    `governing` is the preposition before the gap, `clause` the main clause.
    """

    def __init__(
        self, tokens: tuple[str, ...], surfaces: tuple[str, ...], skipped_verbs: int, ends_with_predicate: bool
    ) -> None:
        super().__init__(tokens, surfaces)
        self.skipped_verbs = skipped_verbs
        self.ends_with_predicate = ends_with_predicate
        self.clause = self.top
        self.noun: Phrase | None = None
        self.wants = self.measure = self.governing = ""

    def query(self) -> Query | None:
        """Return what the question asks, or None."""
        if (self._at() in PREPOSITIONS or self._at() == "till") and self._at(1) in _WH:
            self.governing, self.place = self._at(), 1
        first = self._at()
        limit = self.governing if first == "when" else ""
        if is_auxiliary(first) and not self.governing:
            self.wants = "verdict"
        elif first == "whether":
            self.wants, self.place = "verdict", 1
        elif first not in _WH or not self._take_question_word(first):
            return None
        gap = self._body()
        if gap is None:
            return None
        clauses = [clause for clause in self.clauses if clause.verb]
        if not clauses or self.clause.verb == "":
            return None
        self._take_stranded()
        if self.clause.verb == sense("take") and self.clause.subject and self.clause.subject.pronoun == "it":
            inner = [clause for clause in clauses if clause.link == "to"]
            if inner and self.wants == "duration":  # "how long does it take to charge it"
                clauses, self.clause = [inner[0]], inner[0]
                self.clause.subject, self.clause.link = None, ""
        return Query(
            wants=self.wants,
            gap=gap,
            clause=self.clause,
            noun=self.noun,
            preposition=self.governing,
            conditions=tuple(clause for clause in clauses if clause is not self.clause),
            measure=self.measure,
            limit=limit,
            bare=bare_adverbs(self.tokens),
            manners=frozenset(
                token
                for token in self.tokens
                if token.endswith("ly") and is_adverb(token) and token not in _EMPTY_ADVERBS
            ),
        )

    def _take_question_word(self, first: str) -> bool:
        """Read the question word and its noun."""
        self.place += 1
        if first == "how":
            return self._open_how()
        self.wants = _WANTED_BY.get(first, "thing")
        if first == "whose":
            self._take_noun()
        elif self.wants == "thing":
            self._open_what(first)
        return True

    def _open_how(self) -> bool:
        word = self._at()
        if word == "many":
            self.wants = "count"
            self.place += 1
            self._take_noun()
            return self.noun is not None
        if word in _MEASURES:
            self.wants, self.measure = _MEASURES[word], word
            self.place += 1
            if word == "much" and not is_auxiliary(self._at()) and not self._is_bare_verb():
                self._take_noun()
            elif word == "far" and self._at() in ("away", "off"):
                self.place += 1
            return True
        self.wants = "manner"
        return is_auxiliary(word)

    def _is_bare_verb(self) -> bool:
        """Return whether a verb follows "how much": "how much costs it", not "how much paid leave do they get"."""
        inverted = any(token in DO_FORMS | MODALS for token in self.tokens[self.place + 1 : self.place + 4])
        return bool(verb_forms(self._at()) & {"s", "past"}) and not inverted

    def _open_what(self, first: str) -> None:
        if is_auxiliary(self._at()) or self.is_verb(self.place):
            return
        forms = verb_forms(self._at())
        if forms & {"past", "s"} and not (is_auxiliary(self._at(1)) or self._at() in _ATTRIBUTES):
            return
        self._take_noun()
        if self.noun:
            word = self.noun.head_text
            self.measure = MEASURED_BY.get(word, "")
            self.wants = _NOUNS.get(word) or _ATTRIBUTES.get(word) or ("chosen" if first == "which" else "kind")
            if self.governing and word in _QUANTITIES:
                self.wants = word
            if self.wants in ("time", "place") and len(self.noun.senses) == 1:
                self.noun = None

    def _take_noun(self) -> None:
        def is_verb(place: int, kept: list[int]) -> bool:
            forms = verb_forms(self.tokens[place])
            if kept and not self.surfaces[place].islower():
                return self.surfaces[place - 1].islower()  # "how many cats Ida has"
            return bool(kept) and bool(
                forms & {"past", "s"} or ("base" in forms and self.tokens[place - 1].endswith("s"))
            )

        if not self.opens(self.place):
            return
        noun = self.phrase_at(self.place, is_verb)
        self.place = noun.end + 1
        if self._at() == "of" and self.opens(self.place + 1):  # "which of her children"
            of = self.phrase_at(self.place + 1, is_verb)
            noun, self.place = of if noun.head_text in ("kind", "sort", "type") else noun, of.end + 1
        self.noun = noun

    # The clause behind the question word

    def _body(self) -> str | None:
        word = self._at()
        subject_wh = self.noun is not None or self.wants in _SUBJECTS
        if word == "of" and self.noun is None and self.wants == "chosen":
            return None
        if is_auxiliary(word):
            return self._behind_auxiliary(word, may_be_subject=subject_wh and not self.governing)
        if subject_wh and verb_forms(word):
            self._set_verb(word, self.place)
            self.run(self.place + 1)
            return "subject"
        if not self.opens(self.place):  # else the word order of a statement: "where Ida works"
            return None
        self.run(self.place)
        return "object"

    def _behind_auxiliary(self, word: str, *, may_be_subject: bool) -> str | None:
        plain, negated = CONTRACTED.get(word, (word, False))
        self.clause.auxiliaries, self.clause.is_negated = frozenset((plain,)), negated
        self.place += 1
        while self._at() in NEGATORS or (is_adverb(self._at()) and self._at() and self._at() != "there"):
            self.clause.is_negated |= self._at() in NEGATORS
            self.place += 1
        if may_be_subject and self._verb_here(plain):
            return "subject"
        if plain in BE_FORMS:
            return self._copular()
        if plain in HAVE_FORMS and (may_be_subject or not self._participle_ahead()):
            self._set_verb(plain, self.place)
            self.run(self.place)
            return "subject" if may_be_subject else "object"
        return self._inverted(plain)

    def _participle_ahead(self) -> bool:
        return any("past" in verb_forms(token) for token in self.tokens[self.place :])

    def _base_ahead(self) -> bool:
        return any("base" in verb_forms(token) or token in ("be", "do", "have") for token in self.tokens[self.place :])

    def _verb_here(self, auxiliary: str) -> bool:
        """Read the verb if it directly follows the auxiliary: the question word is then its subject."""
        if is_auxiliary(self._at()) and self._at() not in DO_FORMS:  # "who has been", "what must be"
            self.clause.auxiliaries |= {self._at()}
            auxiliary = self._at()
            self.place += 1
        forms = verb_forms(self._at())
        wanted = {"past", "ing"} if auxiliary in BE_FORMS else {"past"} if auxiliary in HAVE_FORMS else {"base"}
        noun_behind = "past" in forms and self._at(1) != "" and is_nominal(self._at(1)) and auxiliary in BE_FORMS
        is_name = self._at() != "" and not self.surfaces[self.place].islower()
        if is_name or not forms & wanted or (noun_behind and not self._at(1).endswith("ly")):
            return False
        self.clause.is_passive = bool(self.clause.auxiliaries & BE_FORMS) and "past" in forms
        self._set_verb(self._at(), self.place)
        self.run(self.place + 1)
        return True

    def _subject(self, wanted: frozenset[str]) -> None:
        """Read the phrase after the auxiliary with its complements."""
        candidates: set[int] = set()

        def is_verb(place: int, kept: list[int]) -> bool:
            if not kept or not self.surfaces[place].islower():
                return False
            if self._is_predicate(place, wanted, kept[-1]):
                return True
            if not verb_forms(self.tokens[place]) & wanted:
                return False
            candidates.add(place)
            return len(candidates) > self.skipped_verbs

        if not self.opens(self.place):
            return
        subject = self.phrase_at(self.place, is_verb)
        self.place = subject.end + 1
        self.top.subject = self.last = subject
        while self._at() in PREPOSITIONS | {"and", "to", "than"} and self.opens(self.place + 1):
            if "past" in wanted and not self._participle_ahead():
                break
            if "base" in wanted and not self._base_ahead() and subject.end > subject.start:
                break  # "may visitors fish in the lake": the verb is in no list
            phrase = self.phrase_at(self.place + 1, is_verb)
            if self._at() == "and":
                self.extend(phrase)
            else:
                self.preposition, self.preposition_place = self._at(), self.place
                self.attach(phrase)
            self.place = phrase.end + 1

    def _is_predicate(self, place: int, wanted: frozenset[str], before: int) -> bool:
        """Return whether a word ends the phrase after "is": "is the card valid", "is Loki ginger"."""
        following = self.at(place + 1)
        ends = not following or following in PREPOSITIONS | {"to", "if", "when", "and", "until"}
        compared = following == "than" and self.tokens[place].endswith("er")
        is_name_alone = before == self.place and self.is_name(before)
        describes = self.ends_with_predicate or is_name_alone or self.tokens[place] in PREDICATE_ADJECTIVES | COLOURS
        return "ing" in wanted and (compared or (ends and describes))

    def _copular(self) -> str:
        self._set_verb("is", self.place)
        if self._at() == "there":
            self.place += 1
        elif self.opens(self.place):
            self._subject(frozenset(("past", "ing")))
            while is_adverb(self._at()) and not (self._at() in PREPOSITIONS and self._at(1)):
                self.place += 1
            if verb_forms(self._at()) & {"past", "ing"}:
                self.clause.is_passive = "past" in verb_forms(self._at())
                self._set_verb(self._at(), self.place)
                self.run(self.place + 1)
                return "object"
        self.run(self.place)
        if self.noun is not None and self.clause.subject and self.tokens[-1] in PREPOSITIONS:
            return "object"
        if self.noun is not None and self.wants in ("chosen", "kind", "count"):
            self.clause.objects = (*((self.clause.subject,) if self.clause.subject else ()), *self.clause.objects)
            self.clause.subject = None
            return "subject"
        return "predicate" if self.clause.subject else "subject"

    def _inverted(self, auxiliary: str) -> str | None:
        wanted = frozenset(("past",)) if auxiliary in HAVE_FORMS else frozenset(("base",))
        start = self.place
        self._subject(wanted)
        while is_adverb(self._at()) or self._at() in NEGATORS or (self._at() in ("last", "next") and self._at(1)):
            self.clause.is_negated |= self._at() in NEGATORS
            self.place += 1
        if self._at() in ("be", "been"):
            self.clause.auxiliaries |= {"be"}
            self.place += 1
            if "past" in verb_forms(self._at()):
                self.clause.is_passive = True
            else:
                self._set_verb("be", self.place)
                self.run(self.place)
                return "object"
        if not self._at() or not (verb_forms(self._at()) or self._at() in ("do", "have")):
            if not self._last_is_verb(start):
                return None
        else:
            self._set_verb(self._at(), self.place)
            self.place += 1
        self.run(self.place)
        return "object"

    def _last_is_verb(self, start: int) -> bool:
        """Read the last word of the subject, or the word after a pronoun, as the verb, although no list has it."""
        subject = self.clause.subject
        if subject is not None and subject.pronoun and self._at() and is_nominal(self._at()):
            self._set_verb(self._at(), self.place)
            self.place += 1
            return True
        if subject is None or subject.end <= start or subject.end != self.place - 1:
            return False
        self._set_verb(self.tokens[subject.end], subject.end)
        self.clause.subject = self.phrase_at(start, lambda place, kept: False, stop=subject.end)
        return True

    def _take_stranded(self) -> None:
        behind = self.tokens[self.clause.verb_place + 1 : self.clause.verb_place + 2]
        opens = any(clause.link in ("after", "before") for clause in self.clauses)
        if behind in (("after",), ("before",)) and not opens:
            self.governing = self.tokens[self.clause.verb_place + 1]
            return
        last = self.tokens[-1]
        if last in PREPOSITIONS | {"as"} and not self.governing and self.wants != "verdict":
            self.governing = last
            self.clause.adverbs = tuple(word for word in self.clause.adverbs if word != last)
