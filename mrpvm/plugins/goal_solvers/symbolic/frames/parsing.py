"""A sentence as clauses with subject, verb, objects and modifiers: shallow, by word classes and order alone."""

import re
from dataclasses import replace
from functools import lru_cache

from mrpvm.knowledge.lexicon import BE_FORMS, DETERMINERS, DO_FORMS, HAVE_FORMS, MODALS, POSSESSIVES, PREPOSITIONS
from mrpvm.plugins.goal_solvers.symbolic.frames.phrases import PhraseReader
from mrpvm.plugins.goal_solvers.symbolic.frames.structure import Clause, Parsed, Phrase
from mrpvm.plugins.goal_solvers.symbolic.frames.tagging import (
    CONTRACTED,
    MORE_PREPOSITIONS,
    NEGATORS,
    PARTICLES,
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
from mrpvm.plugins.goal_solvers.symbolic.reading import read, sense

LIMITS = frozenset((("up", "to"), ("at", "least"), ("at", "most"), ("more", "than"), ("less", "than"), ("fewer", "than")))
_JOINING = frozenset(("and", "or", "but", "nor", "yet", "then"))
_ENDS = frozenset((";", ":", "\u2014", "..."))
_BE = sense("be")
_LETTING = frozenset(sense(word) for word in ("let", "make", "help", "see", "hear", "watch"))
_TELLING = frozenset(sense(word) for word in ("tell", "inform", "remind", "warn", "assure", "promise", "show"))
_SEVERAL = frozenset(("both", "all", "some", "many", "most", "few", "others"))


@lru_cache(maxsize=8_192)
def parse(text: str) -> Parsed:
    """Give the clauses of a statement in the order in which they begin."""
    tokens, surfaces = tokens_of(text)
    return Parsed(tokens, surfaces, tuple(Parser(tokens, surfaces).run()))


def tokens_of(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the tokens of a sentence and how they are written; the month of May and "10 am" are no auxiliaries."""
    reading = read(spelled_out(text))
    tokens = list(reading.tokens)
    for place, token in enumerate(tokens):
        if token == "may" and place and reading.surfaces[place] == "May":
            tokens[place] = MAY
        elif token == "am" and place and tokens[place - 1][0].isdigit():
            tokens[place] = "a.m"
    return tuple(tokens), reading.surfaces


MAY = "month-of-may"


_SHORT_FORMS = re.compile(r"(?<=\w)['\u2019](ll|m|re|ve)\b", re.IGNORECASE)
_LONG_FORMS = {"ll": " will", "m": " am", "re": " are", "ve": " have"}


def spelled_out(text: str) -> str:
    """Give `text` with "I'll", "you're" and their kind written as two words."""
    return _SHORT_FORMS.sub(lambda match: _LONG_FORMS[match[1].lower()], text)


class Parser:
    """Goes once over the tokens, a clause being built at any time."""

    def __init__(self, tokens: tuple[str, ...], surfaces: tuple[str, ...], clause: Clause | None = None) -> None:
        self.tokens = tokens
        self.surfaces = surfaces
        self.phrases = PhraseReader(tokens, surfaces)
        self.top = clause or Clause()
        self.clauses = [self.top]
        self.place = 0
        self.preposition = ""
        self.last: Phrase | None = None
        self.joins = False
        self.forced_verb = False

    def run(self, place: int = 0) -> list[Clause]:
        """Give the clauses from `place` on that have a verb."""
        self.place = place
        while self.place < len(self.tokens):
            before = self.place
            self._step()
            self.place = max(self.place, before + 1)
        self.top.end = len(self.tokens)
        for clause in self.clauses:
            if clause.subject is None and clause.outer is not None and clause.verb_text.endswith("ing"):
                clause.subject = clause.outer.subject
        return [clause for clause in self.clauses if clause.verb]

    def _at(self, offset: int) -> str:
        place = self.place + offset
        return self.tokens[place] if 0 <= place < len(self.tokens) else ""

    def _step(self) -> None:
        token = self.tokens[self.place]
        if not token[0].isalnum() and token not in ("%", "$", "\u20ac", "\u00a3"):
            self._mark(token)
        elif token in RELATIVES and self._is_relative(token):
            self._open_relative(token)
        elif token in SUBORDINATORS and self._opens_clause(token):
            self._open(token)
        elif token in _JOINING:
            self._join(token)
        elif is_auxiliary(token) or token in NEGATORS:
            self._auxiliary(token)
        elif self.is_verb(self.place):
            self._verb()
        elif token == "to" and ("base" in verb_forms(self._at(1)) or self._at(1) in ("be", "have", "do")):
            self._infinitive()
        elif self._is_limit(token):
            self.place += 2
        elif token in PARTICLES and self.top.verb and self._is_particle(token):
            self.top.adverbs += (token,)
        elif token in PREPOSITIONS or token in MORE_PREPOSITIONS or token in ("to", "than", "as") or token in SUBORDINATORS:
            self._prepose(token)
        elif is_adverb(token):
            self.top.adverbs += (token,)
        elif self.phrases.opens(self.place):
            self._phrase()

    def _is_limit(self, token: str) -> bool:
        """Tell whether "up to", "at least" or "more than" stands before a number: it governs nothing."""
        pair = (token, self._at(1))
        return pair in LIMITS and is_number(self._at(2) or ",")

    def _is_particle(self, token: str) -> bool:
        beside = self.top.verb_place == self.place - 1 and token in ("off", "up", "out", "away")
        return beside or not self.phrases.opens(self.place + 1)

    # Boundaries

    def _mark(self, token: str) -> None:
        self.preposition = ""
        if token in _ENDS:
            self._new_main()
        elif token == "(":
            self._nest("paren", subject=self.last)
        elif token == ")":
            self._leave("paren")
        elif token == ",":
            self._comma()

    def _comma(self) -> None:
        if self._at(1) in RELATIVES and self._at(1) != "that" and self.last is not None:
            return
        opens_sentence = self.top.link == "to" and self.top.outer is not None and not self.top.outer.verb
        while self.top.link == "to" and self.top.verb and self.top.outer and self.top.outer.link in SUBORDINATORS:
            self._pop()
        holds = self.top.link == "that" and not self._clause_follows(self.place + 1)
        if self.top.link and self.top.verb and not holds and (self.top.link not in ("to", "paren") or opens_sentence):
            if self._enumerates():
                self.joins = True
                return
            inner = self.top
            self._pop()
            if self.top.link in SUBORDINATORS and self.top.verb and self.top.outer is not None:
                self._pop()
            if self.top.verb and self._clause_follows(self.place + 1):
                self._new_main()
                if inner.link in SUBORDINATORS and self.tokens[inner.start - 1] in ("and", "but", ";"):
                    inner.outer = self.top  # "..., and because it rained, Anna stayed"
        elif self.last is not None and self._apposes():
            self._appose()
        elif self.top.verb and self._is_joined_verb(self.place + 1, self._at(1)) and not is_auxiliary(self._at(1)):
            self._share_subject(self.place + 1, self._at(1))
        elif self._enumerates():
            self.joins = True
        elif self.top.verb and self._clause_follows(self.place + 1):
            self._new_main()

    def _enumerates(self) -> bool:
        """Tell whether a comma parts the members of an enumeration: one more phrase and then "and" or a comma."""
        place, seen = self.place + 1, 0
        while place < len(self.tokens) and seen < 6:
            token = self.tokens[place]
            if token in ("and", "or", ","):
                return seen > 0 and self.last is not None and not self._clause_follows(self.place + 1)
            if not (is_nominal(token) or token in DETERMINERS or token in POSSESSIVES) or self.is_verb(place):
                return False
            seen += 1
            place += 1
        return False

    def _apposes(self) -> bool:
        """Tell whether a comma opens a second name for the phrase before it: "his boat, the Argo, was ..."."""
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
        goes_on = is_auxiliary(behind) or (phrase.is_name and behind in PREPOSITIONS) or bool(verb_forms(behind) & {"past", "s"}) or not behind
        return closes and (goes_on or self.tokens[after - 1] == behind) and (
            phrase.determiner in ("a", "an", "the") or phrase.owner_pronoun != "" or phrase.is_name
        )

    def _appose(self) -> None:
        phrase = self.phrases.read(self.place + 1, self.is_verb)
        if self.last is not None:
            aliases = [phrase]
            if self.tokens[phrase.end + 1 : phrase.end + 2] in (("named",), ("called",)):
                aliases.append(self.phrases.read(phrase.end + 2, self.is_verb))
            named = replace(self.last, aliases=(*self.last.aliases, *aliases))
            if self._replace(self.last, named):
                self.last = named
        self.place = phrase.end + 1
        while self.place < len(self.tokens) and self.tokens[self.place] != ",":
            self.place += 1
        self.place += 1

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

    def _is_relative(self, token: str) -> bool:
        before = self._at(-1)
        if token == "that":
            after = self._at(1)
            behind_verb = self.top.verb_place == self.place - 1 and self.top.verb != _BE
            if self._is_told():
                return True
            return behind_verb or (self.last is not None and self.last.end == self.place - 1 and not self._noun(after))
        beside = self.last is not None and (self.last.end == self.place - 1 or before == "," or before in PREPOSITIONS)
        return beside and self.place + 1 < len(self.tokens)

    def _is_told(self) -> bool:
        """Tell whether "that" says what somebody is told: "told the constable that ..."."""
        return self.top.verb in _TELLING and len(self.top.objects) == 1 and not self.top.modifiers

    def _noun(self, token: str) -> bool:
        return bool(token) and is_nominal(token) and not verb_forms(token)

    def _open_relative(self, token: str) -> None:
        if token == "that" and (self.top.verb_place == self.place - 1 or self._is_told()):
            self._nest("that")
            return
        antecedent = self.last
        self._nest("rel")
        if token in ("where", "whose"):
            return
        following = self._at(1)
        subject_gap = is_auxiliary(following) or bool(verb_forms(following)) or is_adverb(following)
        if subject_gap:
            self.top.subject = antecedent
        elif antecedent:
            self.top.objects = (antecedent,)

    def _opens_clause(self, token: str) -> bool:
        if token == "as" and self.phrases.opens(self.place + 1):
            end = self.phrases.read(self.place + 1, self.is_verb).end + 1
            if end > self.place + 2 and end < len(self.tokens) and self.tokens[end] in SUBJECT_PRONOUNS:
                return False  # "as a girl she sang"
        if token in ("so", "as") and (is_adverb(self._at(1)) or self._at(1) in ("that", "soon", "long", "well")):
            return self._at(1) == "that"
        if self._at(1) in ("of",):
            return False
        return self._clause_follows(self.place + 1)

    def _clause_follows(self, place: int) -> bool:
        """Tell whether a subject and a finite verb stand behind a place, before the next mark."""
        seen = False
        for at in range(place, min(place + 12, len(self.tokens))):
            token = self.tokens[at]
            if not token[0].isalnum() or token in SUBORDINATORS or token in _JOINING:
                return False
            if is_auxiliary(token):
                return seen
            forms = verb_forms(token)
            before = self.tokens[at - 1]
            if seen and forms & {"past", "s"} and before not in DETERMINERS and before not in POSSESSIVES:
                if before not in PREPOSITIONS and not self._auxiliary_behind(at):
                    return True
            if seen and "base" in forms and before in SUBJECT_PRONOUNS | PLURALS:
                return True
            if seen and "base" in forms and before.endswith("s") and before not in DETERMINERS | POSSESSIVES:
                return not self._auxiliary_behind(at)
            if token in PREPOSITIONS and not seen:
                return False
            seen = seen or self.phrases.opens(at)
        return False

    def _auxiliary_behind(self, place: int) -> bool:
        return place + 1 < len(self.tokens) and (
            is_auxiliary(self.tokens[place + 1]) or "past" in verb_forms(self.tokens[place + 1])
        )

    def _open(self, token: str) -> None:
        while self.top.link in ("rel", "to", "ing", "that") and self.top.outer is not None:
            self._pop()
        if self.top.link in SUBORDINATORS and self.top.verb and self.top.outer is not None:
            self._pop()
        self._nest(token)

    def _join(self, token: str) -> None:
        following = self.place + 1
        while following < len(self.tokens) and (is_adverb(self.tokens[following]) or self.tokens[following] == "then"):
            following += 1
        ahead = self.tokens[following] if following < len(self.tokens) else ""
        if token == "but" and self._at(1) == "not" and self._at(2) in PREPOSITIONS:
            self.place += 2  # "on paper but not on glass"
            self.joins = False
        elif self.top.verb and self._is_gapped(following):
            gapped = self.top
            self._new_main()
            self.top.verb, self.top.verb_text, self.top.verb_place = gapped.verb, gapped.verb_text, gapped.verb_place
            self.top.auxiliaries, self.top.is_passive = gapped.auxiliaries, gapped.is_passive
            self.top.subject = self.phrases.read(following, self.is_verb)
            self.last, self.place = self.top.subject, self.top.subject.end + 1
        elif self.top.verb and self._is_joined_verb(following, ahead):
            self._share_subject(following, ahead)
        elif (self.top.verb and self._clause_follows(following)) or token == "but":
            link = self.top.link if self.top.link in SUBORDINATORS else ""
            outer = self.top.outer if link else None
            self._new_main()
            self.top.link, self.top.outer = link, outer
        else:
            self.joins = True

    def _is_gapped(self, place: int) -> bool:
        """Tell whether a subject follows whose verb is left out: "books for a month and films for a week"."""
        if not self.top.modifiers or not self.phrases.opens(place) or self.top.verb == _BE:
            return False
        end = self.phrases.read(place, self.is_verb).end + 1
        word, last = self.top.modifiers[-1]
        alike = end < len(self.tokens) and self.tokens[end] == word and word not in ("of", "in", "with")
        return alike and last.end < self.place and is_number(self.tokens[last.start])

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

    def _share_subject(self, place: int, ahead: str) -> None:
        first = self.top
        while self.top.link in ("to", "rel") and self.top.outer is not None and self._tense_differs(ahead):
            self._pop()
            first = self.top
        first.end = self.place
        joined = Clause(link=first.link, outer=first.outer, start=self.place, subject=first.subject)
        if not is_auxiliary(ahead):
            joined.auxiliaries, joined.is_order = first.auxiliaries, first.is_order
            joined.is_passive = first.is_passive and "past" in verb_forms(ahead)
            joined.is_negated = first.is_negated and self._at(0) in ("or", "nor")
        self.clauses.append(joined)
        self.top, self.last, self.joins = joined, None, False
        self.forced_verb = not is_auxiliary(ahead)
        self.place = place - 1
        self.preposition = ""

    def _tense_differs(self, ahead: str) -> bool:
        return not verb_forms(ahead) & verb_forms(self.top.verb_text) or is_auxiliary(ahead)

    # Verbs

    def is_verb(self, place: int, start: int = -1, kept: list[int] | None = None) -> bool:
        """Tell whether the word at a place is a verb of the clause being built."""
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
        if self.top.verb in _LETTING and self.top.objects and "base" in forms and before not in DETERMINERS:
            return before not in PREPOSITIONS
        if before in _SEVERAL and place - self.place in (0, 1) and not self.top.verb and "base" in forms:
            return self._after(place) in DETERMINERS | POSSESSIVES | {"that", "to"}
        if before in DETERMINERS or before in POSSESSIVES or before.endswith(("'s", "s'")):
            return False
        if before in PREPOSITIONS or before in ("as", "than"):
            return "ing" in forms
        has_subject = self.top.subject is not None or (bool(kept) and not self.preposition)
        return self._is_finite(place, forms, has_subject=has_subject, before=before, kept=kept or [])

    def _is_unknown_verb(self, place: int, has_kept: bool) -> bool:
        """Tell whether a word no list has must be a verb: a noun is not followed by an article."""
        token, before = self.tokens[place], self.tokens[place - 1] if place else ","
        takes = self._after(place) in DETERMINERS | POSSESSIVES - {"all", "both", "each"}
        if self.top.verb or not takes or not token.isalpha() or not is_nominal(token) or before in PREPOSITIONS:
            return False
        if self.top.subject is None and not has_kept:
            return not self.preposition and self._begins_order(place) and self._after(place) != "no"
        is_subject = has_kept and not self.preposition
        third = token.endswith("s") and not token.endswith(("ss", "us")) and self.surfaces[place].islower()
        return third and (is_subject or self.top.subject is not None) and before not in DETERMINERS | POSSESSIVES

    def _resumes(self, place: int, forms: frozenset[str]) -> bool:
        """Tell whether a verb behind a relative clause is that of the clause around it: "who comes late pays"."""
        top = self.top
        if top.link not in ("rel", "ing") or not top.verb or top.outer is None or top.outer.verb:
            return False
        subject, before = top.outer.subject, self.tokens[place - 1]
        if subject is None or before in DETERMINERS or before in POSSESSIVES or top.verb_place >= place - 1:
            return False
        finite = "past" in forms or ("base" if subject.is_plural else "s") in forms
        return finite and before not in PREPOSITIONS and not is_auxiliary(self._after(place))

    def _after(self, place: int) -> str:
        return self.tokens[place + 1] if place + 1 < len(self.tokens) else ""

    def _is_finite(self, place: int, forms: frozenset[str], *, has_subject: bool, before: str, kept: list[int]) -> bool:
        behind = self.tokens[place + 1] if place + 1 < len(self.tokens) else ""
        if self.top.verb:
            if "past" in forms:  # "damage caused by", "a street named after"
                return bool(kept or self.last) and (behind in PREPOSITIONS or behind in ("to", "in", "by", ""))
            return forms == {"ing"} and before == ","
        if is_auxiliary(behind) or "past" in verb_forms(behind) and "past" not in forms:
            return False
        if has_subject and "past" in forms:
            reduced = (
                self.top.link != "rel"
                and (behind in PREPOSITIONS or is_number(behind or ","))
                and self._finite_far(place + 1, past_comma=False)
            )
            return not reduced and (not is_number(before) or bool(kept))
        if has_subject and "s" in forms and kept and len(kept) == 1 and "past" in verb_forms(before):
            return False  # "guided tours start"
        if has_subject and "s" in forms:
            listed = behind == "," and self._finite_far(place + 1, past_comma=True)
            return not listed and not (kept and self._finite_later(place + 1))
        if "base" in forms and has_subject:
            plural = before in ("i", "we", "you", "they") or before.endswith("s") or before in PLURALS or self._subject_plural()
            return plural and not self._finite_later(place + 1)
        if "base" in forms and not kept and self._begins_order(place):
            plain = behind == "" or not verb_forms(behind) or "base" in verb_forms(behind)
            return plain and not self._finite_later(place + 1)
        return False

    def _subject_plural(self) -> bool:
        return self.top.subject is not None and self.top.subject.is_plural

    def _finite_later(self, place: int) -> bool:
        for at in range(place, min(place + 6, len(self.tokens))):
            token = self.tokens[at]
            if not token[0].isalnum() or token in SUBORDINATORS | RELATIVES | _JOINING:
                return False
            if token in PREPOSITIONS or token in DETERMINERS:
                return False
            if is_auxiliary(token):
                return True
        return False

    def _finite_far(self, place: int, *, past_comma: bool) -> bool:
        """Tell whether an auxiliary stands further on in the same clause."""
        for at in range(place, len(self.tokens)):
            token = self.tokens[at]
            if token in SUBORDINATORS | RELATIVES | PRONOUNS or token in _ENDS or token == "but":
                return False
            if token == "," and not past_comma:
                return False
            if is_auxiliary(token):
                return True
            if "past" in verb_forms(token) and not is_auxiliary(self._after(at)):
                return False
        return False

    def _begins_order(self, place: int) -> bool:
        """Tell whether nothing but adverbs and a finished clause stands before a place of its clause."""
        if self.top.subject is not None or self.top.objects:
            return False
        opening = [self.tokens[at] for at in range(self.top.start, place)]
        return all(
            is_adverb(token) or not token[0].isalnum() or token in _JOINING or token in NEGATORS for token in opening
        ) or (
            self.tokens[place - 1] == ","
        )

    def _auxiliary(self, token: str) -> None:
        if self.top.link == "rel" and self.top.verb and self.top.outer is not None:
            self._pop()
        elif self.top.link in ("ing", "to") and self.top.verb and self.top.outer and not self.top.outer.verb:
            self._pop()
        if self.top.verb and token not in NEGATORS:
            return
        word, negated = CONTRACTED.get(token, (token, False))
        self.top.is_negated |= negated or token in NEGATORS
        if token in NEGATORS:
            return
        self.top.auxiliaries |= {word}
        if self.top.subject is None and not self.top.auxiliaries - {word}:
            self._open_question()
        ahead = 1
        while is_adverb(self._at(ahead)) or self._at(ahead) in NEGATORS:
            self.top.is_negated |= self._at(ahead) in NEGATORS
            ahead += 1
        following = self._at(ahead)
        if is_auxiliary(following):
            self.place += ahead - 1
            return
        forms = verb_forms(following)
        governs = self.top.subject is not None and (word in MODALS or word in ("do", "does", "did"))
        if governs and not forms and following and is_nominal(following):
            forms = frozenset(("base",))  # a verb that no list has
        if not self._completes(word, forms):
            if word in BE_FORMS or word in HAVE_FORMS or word in DO_FORMS:
                self._set_verb(word, self.place)
            elif following:
                self.forced_verb = bool(forms)
            self.place += ahead - 1
            return
        self.place += ahead
        self.top.is_passive = bool(self.top.auxiliaries & BE_FORMS) and "past" in forms
        self._set_verb(self.tokens[self.place], self.place)
        self.place += 1

    def _open_question(self) -> None:
        """Nothing to do for a statement; questions put their subject behind the auxiliary."""

    def _completes(self, auxiliary: str, forms: frozenset[str]) -> bool:
        if auxiliary in BE_FORMS:
            return "past" in forms or "ing" in forms
        if auxiliary in HAVE_FORMS:
            return "past" in forms
        return "base" in forms and (auxiliary in DO_FORMS or auxiliary in MODALS)

    def _set_verb(self, text: str, place: int) -> None:
        base = "have" if text in HAVE_FORMS else "be" if text in BE_FORMS else "do" if text in DO_FORMS else text
        self.top.verb = sense(base)
        self.top.verb_text = text
        self.top.verb_place = place
        self.preposition, self.joins, self.forced_verb = "", False, False

    def _verb(self) -> None:
        token = self.tokens[self.place]
        forms = verb_forms(token)
        if self._resumes(self.place, forms):
            self._pop()
        elif self.top.verb and not self.forced_verb:
            if "past" in forms:
                self._nest("ing", subject=self.last or self.top.subject)
                self.top.is_passive = True
            elif self.top.verb in _LETTING and "base" in forms:
                self._nest("to", subject=self.last)
            else:
                self._nest("ing", subject=self.top.subject)
        elif self._at(-1) in PREPOSITIONS and forms == {"ing"}:
            word = self.preposition or self._at(-1)
            self._nest(word, subject=self.top.subject)
            self.top.is_negated = self._at(-2) in ("instead", "rather") or word == "without"
        elif self.top.subject is None and not self.top.auxiliaries and ("base" in forms or not forms):
            self.top.is_order = True
        self._set_verb(token, self.place)

    def _infinitive(self) -> None:
        self._nest("to", subject=self.top.subject)
        self.place += 1
        self._set_verb(self.tokens[self.place], self.place)
        self.place += 1

    # Phrases

    def _prepose(self, token: str) -> None:
        if self._at(1) in ("i", "he", "she", "we", "they"):
            return  # "from then on she ..."
        excluded = self._at(-1) == "except" or (self._at(-1) == "not" and self._at(-2) in ("but", ","))
        self.preposition = "except" if excluded else token
        self.joins = False

    def _phrase(self) -> None:
        phrase = self.phrases.read(self.place, self.is_verb)
        if self.joins and self.extend(phrase):
            pass
        else:
            self.attach(phrase)
        self.place = phrase.end + 1
        self.joins = False

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
        else:
            top.objects += (phrase,)
        if not (self.preposition == "of" and self.last is not None and self.last.end == phrase.end):
            self.last = phrase
        self.preposition = ""

    def _modify(self, phrase: Phrase) -> None:
        top = self.top
        if self.preposition == "of" and self.last is not None and self.last.end < phrase.start:
            owned = _owned(self.last, phrase)
            self._replace(self.last, owned)
            if top.subject is owned or owned in top.objects or any(owned is item for _, item in top.modifiers):
                phrase = owned
                self.last = owned
                return
        top.modifiers += ((self.preposition, phrase),)

    def _between(self, phrase: Phrase) -> None:
        """Place a phrase behind the subject and before the verb: an apposition, or the real subject behind a date."""
        before = self._at(-1)
        if before == "," or phrase.is_name:
            self.top.objects += ()
        if self.top.subject is not None and self.top.subject.end == phrase.start - 1 and before != ",":
            self.top.modifiers += (("", self.top.subject),)
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


def _joined(first: Phrase, other: Phrase) -> Phrase:
    return replace(first, others=(*first.others, other))


def _owned(thing: Phrase, owner: Phrase) -> Phrase:
    if thing.others:  # what stands behind the last member of an enumeration belongs to it
        return replace(thing, others=(*thing.others[:-1], _owned(thing.others[-1], owner)))
    return replace(
        thing, owner=thing.owner | owner.senses | owner.owner, owned_by=(*thing.owned_by, owner), end=owner.end
    )
