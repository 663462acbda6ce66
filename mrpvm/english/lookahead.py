"""What a parser can tell of the words ahead: whether one is a verb, whether a clause or an enumeration goes on."""

from collections.abc import Sequence

from mrpvm.english.lexicon import (
    BE_FORMS,
    DETERMINERS,
    DO_FORMS,
    HAVE_FORMS,
    MODALS,
    POSSESSIVES,
    PREPOSITIONS,
    TIME_WORDS,
    groups,
)
from mrpvm.english.phrases import PhraseReader
from mrpvm.english.reading import sense
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.tagging import (
    NEGATORS,
    PLURALS,
    PRONOUNS,
    RELATIVES,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    is_adverb,
    is_auxiliary,
    is_nominal,
    is_number,
    verb_forms,
)

LIMITS = frozenset(map(tuple, groups("limits")))
JOINING = frozenset(("and", "or", "but", "nor", "yet", "then"))
ENDS = frozenset((";", ":", "\u2014", "..."))
BE = sense("be")
LETTING = frozenset(sense(word) for word in ("let", "make", "help", "see", "hear", "watch"))
TELLING = frozenset(sense(word) for word in ("tell", "inform", "remind", "warn", "assure", "promise", "show"))
SEVERAL = frozenset(("both", "all", "some", "many", "most", "few", "others"))


class Lookahead:
    """The state of a parser and its questions about what follows."""

    def __init__(self, tokens: tuple[str, ...], surfaces: tuple[str, ...], clause: Clause | None = None) -> None:
        self.tokens = tokens
        self.surfaces = surfaces
        self.phrases = PhraseReader(tokens, surfaces)
        self.top = clause or Clause()
        self.clauses = [self.top]
        self.place = 0
        self.preposition = ""
        self.preposition_place = -1
        self.last: Phrase | None = None
        self.joins = False
        self.forced_verb = False

    def _at(self, offset: int) -> str:
        return self.phrases.at(self.place + offset)

    def _after(self, place: int) -> str:
        return self.tokens[place + 1] if place + 1 < len(self.tokens) else ""

    def is_verb(self, place: int, start: int = -1, kept: Sequence[int] = ()) -> bool:
        """Return whether the word at a place is a verb of the clause being built."""
        if place >= len(self.tokens):
            return False
        forms = verb_forms(self.tokens[place])
        if not forms and self._is_unknown_verb(place, bool(kept)):
            return True
        if not forms or (self.surfaces[place][0].isupper() and place > 0 and self.tokens[place - 1] != ","):
            return False
        if self.forced_verb and place == self.place:
            return True
        before = self.tokens[place - 1] if place else ""
        if self._resumes(place, forms):
            return True
        if self.top.verb in LETTING and self.top.objects and "base" in forms and before not in DETERMINERS:
            return before not in PREPOSITIONS
        if before in SEVERAL and place - self.place in (0, 1) and not self.top.verb and "base" in forms:
            return self._after(place) in DETERMINERS | POSSESSIVES | {"that", "to"}
        if before in DETERMINERS or before in POSSESSIVES or before.endswith(("'s", "s'")):
            return False
        if before in PREPOSITIONS or before in ("as", "than"):
            return "ing" in forms and before != "per"  # "per missing litre"
        has_subject = self.top.subject is not None or (bool(kept) and not self.preposition)
        return self._is_finite(place, forms, has_subject=has_subject, before=before, kept=kept)

    def _leading(self, place: int) -> str:
        """Return the word before a place and the adverbs that lead it: "we" of "we never buy"."""
        while place and (is_adverb(self.tokens[place - 1]) or self.tokens[place - 1] in NEGATORS):
            place -= 1
        return self.tokens[place - 1] if place else ""

    def _is_unknown_verb(self, place: int, has_kept: bool) -> bool:
        """Return whether a word no list has must be a verb: a noun is not followed by an article."""
        term, before = self.tokens[place], self.tokens[place - 1] if place else ","
        takes = self._after(place) in DETERMINERS | POSSESSIVES - {"all", "both", "each"}
        if (
            self.top.verb
            or not takes
            or not term.isalpha()
            or term in TIME_WORDS
            or not is_nominal(term)
            or before in PREPOSITIONS
        ):
            return False
        if self.top.subject is None and not has_kept:
            return not self.preposition and self._begins_order(place) and self._after(place) != "no"
        is_subject = has_kept and not self.preposition
        third = term.endswith("s") and not term.endswith(("ss", "us")) and self.surfaces[place].islower()
        return third and (is_subject or self.top.subject is not None) and before not in DETERMINERS | POSSESSIVES

    def _resumes(self, place: int, forms: frozenset[str]) -> bool:
        """Return whether a verb behind a relative clause is that of the clause around it: "who comes late pays"."""
        top = self.top
        if top.link not in ("rel", "ing") or not top.verb or top.outer is None or top.outer.verb:
            return False
        subject, before = top.outer.subject, self.tokens[place - 1]
        if subject is None or before in DETERMINERS or before in POSSESSIVES or top.verb_place >= place - 1:
            return False
        finite = "past" in forms or ("base" if subject.is_plural else "s") in forms
        return finite and before not in PREPOSITIONS and not is_auxiliary(self._after(place))

    def _is_finite(
        self, place: int, forms: frozenset[str], *, has_subject: bool, before: str, kept: Sequence[int]
    ) -> bool:
        behind = self.tokens[place + 1] if place + 1 < len(self.tokens) else ""
        if self.top.verb:
            if "past" in forms:  # "damage caused by", "a street named after"
                return bool(kept or self.last) and (behind in PREPOSITIONS or behind in ("to", "in", "by", ""))
            return forms == {"ing"} and before == ","
        if self._leading(place) in ("i", "we", "you", "they") and "base" in forms and not is_auxiliary(behind):
            return True  # "we sell used bikes"
        if is_auxiliary(behind) or ("past" in verb_forms(behind) and "past" not in forms):
            return False
        if has_subject and "past" in forms:
            return not is_number(before) or bool(kept)
        if has_subject and "s" in forms and kept and len(kept) == 1 and before.endswith("ed"):
            return False  # "guided tours start"
        if has_subject and "s" in forms:
            return not (kept and self._finite_later(place + 1))
        if "base" in forms and has_subject:
            plural = (
                before in ("i", "we", "you", "they")
                or before.endswith("s")
                or before in PLURALS
                or self._subject_plural()
            )
            return plural and not self._finite_later(place + 1)
        if "base" in forms and not kept and self._begins_order(place):
            plain = behind == "" or not verb_forms(behind) or "base" in verb_forms(behind)
            return plain and not self._finite_later(place + 1) and not self._is_named_by(place)
        return False

    def _subject_plural(self) -> bool:
        return self.top.subject is not None and self.top.subject.is_plural

    def _is_named_by(self, place: int) -> bool:
        """Return whether an identifier and a finite verb stand behind a place: "pump P1 needs oil"."""
        identifier, verb = [*self.tokens[place + 1 : place + 3], "", ""][:2]
        is_identifier = any(map(str.isdigit, identifier)) and any(map(str.isalpha, identifier))
        return is_identifier and bool(verb_forms(verb) & {"s", "past"} or is_auxiliary(verb))

    def _finite_later(self, place: int) -> bool:
        for at in range(place, min(place + 6, len(self.tokens))):
            term = self.tokens[at]
            if not term[0].isalnum() or term in SUBORDINATORS | RELATIVES | JOINING:
                return False
            if term in PREPOSITIONS or term in DETERMINERS:
                return False
            if is_auxiliary(term):
                return True
        return False

    def _begins_order(self, place: int) -> bool:
        """Return whether nothing but adverbs and a finished clause stands before a place of its clause."""
        if self.top.subject is not None or self.top.objects:
            return False
        opening = [self.tokens[at] for at in range(self.top.start, place)]
        return all(
            is_adverb(term) or not term[0].isalnum() or term in JOINING or term in NEGATORS for term in opening
        ) or (self.tokens[place - 1] == ",")

    def _clause_follows(self, place: int) -> bool:
        """Return whether a subject and a finite verb stand behind a place, before the next mark."""
        seen = False
        for at in range(place, min(place + 12, len(self.tokens))):
            term = self.tokens[at]
            if not term[0].isalnum() or term in SUBORDINATORS or term in JOINING:
                return False
            if is_auxiliary(term):
                return seen
            forms = verb_forms(term)
            before = self.tokens[at - 1]
            is_free = before not in DETERMINERS | POSSESSIVES | PREPOSITIONS
            if seen and forms & {"past", "s"} and is_free and not self._auxiliary_behind(at):
                return True
            if seen and "base" in forms and before in SUBJECT_PRONOUNS | PLURALS:
                return True
            if seen and "base" in forms and before.endswith("s") and before not in DETERMINERS | POSSESSIVES:
                return not self._auxiliary_behind(at)
            if term in PREPOSITIONS and not seen:
                return False
            seen = seen or self.phrases.opens(at)
        return False

    def _auxiliary_behind(self, place: int) -> bool:
        return place + 1 < len(self.tokens) and (
            is_auxiliary(self.tokens[place + 1]) or "past" in verb_forms(self.tokens[place + 1])
        )

    def _is_joined_verb(self, place: int, ahead: str) -> bool:
        if is_auxiliary(ahead):
            return ahead not in ("having", "being")
        forms = verb_forms(ahead)
        if not forms or place >= len(self.tokens) or (self.surfaces[place][0].isupper()):
            return False
        own = verb_forms(self.top.verb_text)
        behind = self.tokens[place + 1] if place + 1 < len(self.tokens) else ""
        alike = bool(forms & own) or (self.top.is_passive and "past" in forms) or ("past" in forms)
        if "past" not in forms and "ing" not in forms:
            takes = not behind or behind in DETERMINERS | POSSESSIVES | PREPOSITIONS | PRONOUNS or is_number(behind)
            goes_on = "s" in forms and is_nominal(behind or ",") and not self._finite_later(place + 1)
            alike = alike and (takes or goes_on or is_adverb(behind) or self.top.is_order or behind in ("to", ","))
        return alike and not is_auxiliary(behind)

    def _is_limit(self, term: str) -> bool:
        """Return whether "up to", "at least" or "more than" stands before a number: it governs nothing."""
        pair = (term, self._at(1))
        return pair in LIMITS and is_number(self._at(2) or ",")

    def _is_particle(self, term: str) -> bool:
        beside = self.top.verb_place == self.place - 1 and term in ("off", "up", "out", "away")
        return beside or not self.phrases.opens(self.place + 1)

    def _is_told(self) -> bool:
        """Return whether "that" says what somebody is told: "told the constable that ..."."""
        return self.top.verb in TELLING and len(self.top.objects) == 1 and not self.top.modifiers

    def _noun(self, term: str) -> bool:
        return bool(term) and is_nominal(term) and not verb_forms(term)

    def _enumerates(self) -> bool:
        """Return whether a comma parts the members of an enumeration: one more phrase and then "and" or a comma."""
        place, seen = self.place + 1, 0
        while place < len(self.tokens) and seen < 6:
            term = self.tokens[place]
            if term in ("and", "or", ","):
                return seen > 0 and self.last is not None and not self._clause_follows(self.place + 1)
            if not (is_nominal(term) or term in DETERMINERS or term in POSSESSIVES) or self.is_verb(place):
                return False
            seen += 1
            place += 1
        return False

    def _apposes(self) -> bool:
        """Return whether a comma opens a second name for the phrase before it: "his boat, the Argo, was ..."."""
        if self.last is None or self.last.end != self.place - 1 or not self.phrases.opens(self.place + 1):
            return False
        if self._at(1) in PRONOUNS and not is_nominal(self._at(2) or ","):
            return False
        phrase = self.phrases.read(self.place + 1, self.is_verb)
        after = phrase.end + 1
        while after < len(self.tokens) and self.tokens[after] in ("of", "from", "in", "by", "named", "called"):
            if not self.phrases.opens(after + 1):
                return False
            after = self.phrases.read(after + 1, self.is_verb).end + 1
        if phrase.pronoun or after <= self.place + 1 or is_number(self._at(1)):
            return False
        closes = after >= len(self.tokens) or self.tokens[after] == ","
        behind = self.tokens[after + 1] if after + 1 < len(self.tokens) else ""
        goes_on = (
            is_auxiliary(behind)
            or (phrase.is_name and behind in PREPOSITIONS)
            or bool(verb_forms(behind) & {"past", "s"})
            or not behind
        )
        return (
            closes
            and (goes_on or self.tokens[after - 1] == behind)
            and (phrase.determiner in ("a", "an", "the") or phrase.owner_pronoun != "" or phrase.is_name)
        )

    def _completes(self, auxiliary: str, forms: frozenset[str]) -> bool:
        if auxiliary in BE_FORMS:
            return "past" in forms or "ing" in forms
        if auxiliary in HAVE_FORMS:
            return "past" in forms
        return "base" in forms and (auxiliary in DO_FORMS or auxiliary in MODALS)

    def _tense_differs(self, ahead: str) -> bool:
        return not verb_forms(ahead) & verb_forms(self.top.verb_text) or is_auxiliary(ahead)
