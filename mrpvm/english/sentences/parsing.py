"""A shallow parser: finds clauses with subject, verb, objects and modifiers by word class and order."""

import re
from collections.abc import Sequence
from copy import replace

from mrpvm.english.sentences.phrases import PhraseReader
from mrpvm.english.sentences.structure import Clause, Phrase, Sentence
from mrpvm.english.words.lexicon import (
    AUXILIARIES,
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
from mrpvm.english.words.reading import BE, denies, in_full, sense, surfaces_of, words_of
from mrpvm.english.words.tagging import (
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
    is_money_sign,
    is_nominal,
    is_number,
    names_time,
    verb_forms,
)
from mrpvm.text_cache import TextCache

LIMITS = frozenset(map(tuple, groups("limits")))
JOINING = frozenset(("and", "or", "but", "nor", "yet", "then"))
ENDS = frozenset((";", ":", "\u2014", "..."))
LETTING = frozenset(sense(word) for word in ("let", "make", "help", "see", "hear", "watch"))
TELLING = frozenset(sense(word) for word in ("tell", "inform", "remind", "warn", "assure", "promise", "show"))
SEVERAL = frozenset(("both", "all", "some", "many", "most", "few", "others"))


MAY, MINE = "month-of-may", "coal-mine"
_INTERJECTIONS = frozenset(("yes", "no", "well", "oh", "okay", "sure"))
_NO_LONGER = re.compile(r"\bno longer\b", re.IGNORECASE)
_ASKED_DUTY = re.compile(r"\bdo(?:es)? ((?:[\w'-]+ ){1,5}?)(?:have|need) to\b", re.IGNORECASE)
_DUTY = re.compile(r"\b(?P<before>[\w'-]+) (?:has|have|needs?) to(?= [a-z])", re.IGNORECASE)


@TextCache
def read(text: str) -> Sentence:
    """Return a sentence with its clauses in the order of their beginnings."""
    tokens, surfaces = tokens_of(text)
    clauses = tuple(Parser(tokens, surfaces).run())
    words = tuple(words_of(surfaces))
    return Sentence(text=in_full(text), tokens=tokens, surfaces=surfaces, words=words, clauses=clauses)


@TextCache  # of a question several rules ask for them, in several turns
def tokens_of(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens of a sentence in lower case and as written; "May", "10 am" and "a mine" are nouns."""
    surfaces = surfaces_of(spelled_out(text))
    tokens = [surface.lower() for surface in surfaces]
    for place, term in enumerate(tokens):
        beside = (*tokens[max(place - 1, 0) : place], *tokens[place + 1 : place + 2])
        if term == "may" and place and (surfaces[place] == "May" or any(word[0].isdigit() for word in beside)):
            tokens[place] = MAY
        elif term == "am" and place and tokens[place - 1][0].isdigit():
            tokens[place] = "a.m"
        elif term == "mine" and place and (tokens[place - 1] in DETERMINERS or is_nominal(tokens[place - 1])):
            tokens[place] = MINE
    return tuple(tokens), surfaces


def spelled_out(text: str) -> str:
    """Return `text` with forms such as "I'll" as two words, "has to" as "must" and "no longer" as "not"."""
    long = _NO_LONGER.sub("not", in_full(text))
    if denies(long):
        return long  # "nobody has to" forbids nothing
    spelled = _ASKED_DUTY.sub(r"must \1", long)
    return _DUTY.sub(
        lambda match: match[0] if match["before"].lower() in AUXILIARIES else f"{match['before']} must", spelled
    )


class Parser(PhraseReader):
    """Parses the tokens in one pass and builds one clause at a time."""

    def __init__(self, tokens: tuple[str, ...], surfaces: tuple[str, ...]) -> None:
        super().__init__(tokens, surfaces)
        self.top = Clause()
        self.clauses = [self.top]
        self.place = 0
        self.preposition = ""
        self.preposition_place = -1
        self.last: Phrase | None = None
        self.joins = False
        self.forced_verb = False

    def run(self, place: int = 0) -> list[Clause]:
        """Return the clauses with a verb from `place` on."""
        self.place = place
        while self.place < len(self.tokens):
            before = self.place
            self._step()
            self.place = max(self.place, before + 1)
        open_one: Clause | None = self.top
        while open_one is not None:
            open_one.end, open_one = len(self.tokens), open_one.outer
        for clause in self.clauses:
            if clause.subject is None and clause.outer is not None and clause.verb_text.endswith("ing"):
                clause.subject = clause.outer.subject
            elif clause.verb == BE and clause.subject and clause.subject.head_text == "name" and clause.objects:
                clause.subject = (*clause.subject.owned_by, clause.subject)[0]  # "my dog's name is Rex": it is Rex
        return [clause for clause in self.clauses if clause.verb]

    def _step(self) -> None:
        term = self.tokens[self.place]
        if self.place == 0 and term in _INTERJECTIONS and self._at(1) == ",":
            self.place = 1
        elif not term[0].isalnum() and term != "%" and not is_money_sign(term):
            self._mark(term)
        elif term in RELATIVES and self._is_relative(term):
            self._open_relative(term)
        elif term in SUBORDINATORS and self._opens_clause(term):
            self._open(term)
        elif term in JOINING:
            self._join(term)
        elif is_auxiliary(term) or term in NEGATORS:
            self._auxiliary(term)
        elif self.is_verb(self.place):
            self._verb()
        elif term == "to" and ("base" in verb_forms(self._at(1)) or self._at(1) in ("be", "have", "do")):
            self._infinitive()
        elif self._is_limit(term):
            self.place += 2
        elif term in PARTICLES and self.top.verb and self._is_particle(term):
            self.top.adverbs += (term,)
        elif term in PREPOSITIONS or term in MORE_PREPOSITIONS or term in ("to", "than", "as") or term in SUBORDINATORS:
            self._prepose(term)
        elif is_adverb(term):
            self.top.adverbs += (term,)
        elif self.opens(self.place):
            self._take_phrase()

    def _mark(self, term: str) -> None:
        self.preposition = ""
        if term in ENDS:
            self._new_main()
        elif term == "(":
            self._nest("paren", subject=self.last)
        elif term == ")":
            self._close_parenthesis()
        elif term == ",":
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
        elif self.last is not None and self._apposes(self.last):
            self._appose(self.last)
        elif self.top.verb and self._is_joined_verb(self.place + 1, self._at(1)) and not is_auxiliary(self._at(1)):
            self._share_subject(self.place + 1, self._at(1))
        elif self._enumerates():
            self.joins = True
        elif self.top.verb and self._clause_follows(self.place + 1):
            self._new_main()

    def _appose(self, last: Phrase) -> None:
        phrase = self.phrase_at(self.place + 1, self.is_verb)
        if self.at(phrase.end + 1) == "of" and self.opens(phrase.end + 2):
            phrase = owned(phrase, self.phrase_at(phrase.end + 2, self.is_verb))
        aliases = [phrase]
        if self.at(phrase.end + 1) in ("named", "called"):
            aliases.append(self.phrase_at(phrase.end + 2, self.is_verb))
        self._replace_last(replace(last, aliases=(*last.aliases, *aliases)))
        self.place = phrase.end + 1
        while self.place < len(self.tokens) and self.tokens[self.place] != ",":
            self.place += 1
        self.place += 1

    def _is_relative(self, term: str) -> bool:
        before, after = self._at(-1), self._at(1)
        is_behind = self.last is not None and self.last.end == self.place - 1
        if term == "that":
            behind_verb = self.top.verb_place == self.place - 1 and self.top.verb != BE
            is_noun = bool(after) and is_nominal(after) and not verb_forms(after)
            return self._is_told() or behind_verb or (is_behind and not is_noun)
        beside = self.last is not None and (is_behind or before == "," or before in PREPOSITIONS)
        return beside and bool(after)

    def _open_relative(self, term: str) -> None:
        if term == "that" and (self.top.verb_place == self.place - 1 or self._is_told()):
            self._nest("that")
            return
        antecedent = self.last
        self._nest("rel")
        if term == "where" and antecedent:
            self.top.modifiers = (("in", antecedent),)
        if term in ("where", "whose"):
            return
        following = self._at(1)
        subject_gap = is_auxiliary(following) or bool(verb_forms(following)) or is_adverb(following)
        if subject_gap:
            self.top.subject = antecedent
        elif antecedent:
            self.top.objects = (antecedent,)

    def _opens_clause(self, term: str) -> bool:
        if term in ("after", "before", "since", "until") and self.opens(self.place + 1):
            end = self.phrase_at(self.place + 1, self._is_finite_form).end + 1
            if self.at(end) in DETERMINERS | POSSESSIVES | SUBJECT_PRONOUNS:
                return False  # "after the war the king ..."
        if term in ("so", "as") and (is_adverb(self._at(1)) or self._at(1) in ("that", "soon", "long", "well")):
            return self._at(1) == "that"
        return self._at(1) != "of" and self._clause_follows(self.place + 1)

    def _is_finite_form(self, place: int, kept: list[int]) -> bool:
        return bool(kept) and bool(verb_forms(self.tokens[place]) & {"s", "past"})

    def _open(self, term: str) -> None:
        while self.top.link in ("rel", "to", "ing", "that") and self.top.outer is not None:
            self._pop()
        if self.top.link in SUBORDINATORS and self.top.verb and self.top.outer is not None:
            self._pop()
        self._nest(term)

    def _join(self, term: str) -> None:
        following = self.place + 1
        while following < len(self.tokens) and (is_adverb(self.tokens[following]) or self.tokens[following] == "then"):
            following += 1
        ahead = self.at(following)
        if self.top.verb and self._is_joined_verb(following, ahead):
            self._share_subject(following, ahead)
        elif term == "and" and self.top.verb and any(word == ahead for word, _ in self.top.modifiers):
            self._share_verb(ahead)
        elif (self.top.verb and self._clause_follows(following)) or term == "but":
            link = self.top.link if self.top.link in SUBORDINATORS else ""
            outer = self.top.outer if link else None
            self._new_main()
            self.top.link, self.top.outer = link, outer
        else:
            self.joins = True

    def _share_subject(self, place: int, ahead: str) -> None:
        first = self.top
        while self.top.link in ("to", "rel") and self.top.outer is not None and self._tense_differs(ahead):
            self._pop()
            first = self.top
        first.end = self.place
        joined = Clause(link=first.link, outer=first.outer, start=self.place, subject=first.subject)
        if not is_auxiliary(ahead):
            shared = first.verb_text not in first.auxiliaries  # not of "had two furnaces and employed ten people"
            joined.auxiliaries, joined.is_order = first.auxiliaries if shared else frozenset(), first.is_order
            is_participle = first.is_passive or bool(first.auxiliaries & {"is", "are", "be"})
            joined.is_passive = is_participle and "past" in verb_forms(ahead)
            joined.is_negated = first.is_negated and self._at(0) in ("or", "nor")
        self.clauses.append(joined)
        self.top, self.last, self.joins = joined, None, False
        self.forced_verb = not is_auxiliary(ahead)
        self.place = place - 1
        self.preposition = ""

    def _share_verb(self, preposition: str) -> None:
        """Open a clause that differs only in its modifiers: "a call with Kim on Monday and with Lee on Friday"."""
        first = self.top
        count = next(place for place, (word, _) in enumerate(first.modifiers) if word == preposition)
        first.end = self.place
        self.top = replace(first, modifiers=first.modifiers[:count])
        self.clauses.append(self.top)
        self.last, self.joins = None, False

    def _auxiliary(self, term: str) -> None:
        if (self.top.link == "rel" and self.top.verb and self.top.outer is not None) or (
            self.top.link in ("ing", "to") and self.top.verb and self.top.outer and not self.top.outer.verb
        ):
            self._pop()
        if self.top.verb and term not in NEGATORS:
            return
        word, negated = CONTRACTED.get(term, (term, False))
        self.top.is_negated |= negated or term in NEGATORS
        if term in NEGATORS:
            return
        self.top.auxiliaries |= {word}
        ahead = 1
        while is_adverb(self._at(ahead)) or self._at(ahead) in NEGATORS:
            self.top.is_negated |= self._at(ahead) in NEGATORS
            self.top.adverbs += (self._at(ahead),)
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

    def _verb(self) -> None:
        term = self.tokens[self.place]
        forms = verb_forms(term)
        if self._resumes(self.place, forms):
            self._pop()
        elif self._at(-1) in PREPOSITIONS and forms == {"ing"}:
            word = self.preposition or self._at(-1)
            self._nest(word, subject=self.top.subject)
            self.top.is_negated = self._at(-2) in ("instead", "rather") or word == "without"
        elif self.top.verb and not self.forced_verb:
            if "past" in forms:
                self._nest("ing", subject=self.last or self.top.subject, is_passive=True)
            elif self.top.verb in LETTING and "base" in forms:
                self._nest("to", subject=self.last)
            else:
                self._nest("ing", subject=self.top.subject)
        elif self._at(-1) == "," and self._at(1) == "by" and "past" in forms and self._follows_subject():
            self._nest("ing", subject=self.top.subject, is_passive=True)  # "the mill, owned by the family, ..."
        elif self.top.subject is None and not self.top.auxiliaries and ("base" in forms or not forms):
            self.top.is_order = True
        self._set_verb(term, self.place)

    def _follows_subject(self) -> bool:
        subject = self.top.subject
        return subject is not None and subject.end == self.place - 2 and not self.top.auxiliaries

    def _infinitive(self) -> None:
        self._nest("to", subject=self.top.subject)
        self.place += 1
        self._set_verb(self.tokens[self.place], self.place)
        self.place += 1

    # Clauses opened and closed, and given their phrases

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

    def _nest(self, link: str, subject: Phrase | None = None, *, is_passive: bool = False) -> None:
        self.top = Clause(link=link, outer=self.top, start=self.place, subject=subject, is_passive=is_passive)
        self.clauses.append(self.top)
        self.preposition, self.joins = "", False

    def _pop(self) -> None:
        self.top.end = self.place
        if self.top.outer is not None:
            self.top = self.top.outer
        self.preposition = ""

    def _close_parenthesis(self) -> None:
        while self.top.outer is not None and self.top.link != "paren":
            self._pop()
        if self.top.link == "paren":
            self._pop()

    def _set_verb(self, text: str, place: int) -> None:
        base = "have" if text in HAVE_FORMS else "be" if text in BE_FORMS else "do" if text in DO_FORMS else text
        self.top.verb = sense(base)
        self.top.verb_text = text
        self.top.verb_place = place
        self.preposition, self.joins, self.forced_verb = "", False, False

    def attach(self, phrase: Phrase) -> None:
        """Assign a phrase its role in the clause being built."""
        top = self.top
        top.is_negated |= phrase.determiner == "no"
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
        last = self.last
        holds = self.preposition == "of" and last is not None and last.end == self.preposition_place - 1
        if not (last and holds and self._replace_last(owned(last, phrase))) and not self._share_gap(phrase):
            self.top.modifiers += ((self.preposition, phrase),)

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
        """Attach a phrase between subject and verb: an apposition, or the real subject after a date."""
        before = self._at(-1)
        subject = self.top.subject
        if subject is None or before == ",":
            return
        later = subject.head_text in TIME_WORDS and self.tokens[subject.end + 1] in ("later", "ago", "before", "after")
        if subject.end == phrase.start - 1 or later:
            self.top.modifiers += (("", subject),)
            self.top.subject = phrase

    def extend(self, phrase: Phrase) -> bool:
        """Add a member to the enumeration of the last phrase."""
        return self.last is not None and self._replace_last(replace(self.last, others=(*self.last.others, phrase)))

    def _replace_last(self, new: Phrase) -> bool:
        """Put a phrase in the place of the last one, if that belongs to the clause being built."""
        top, old = self.top, self.last
        if not any(item is old for item in top.phrases):
            return False
        top.subject = new if top.subject is old else top.subject
        top.objects = tuple(new if item is old else item for item in top.objects)
        top.modifiers = tuple((word, new if item is old else item) for word, item in top.modifiers)
        self.last = new
        return True

    def _prepose(self, term: str) -> None:
        if self._at(1) in ("i", "he", "she", "we", "they"):
            return  # "from then on she ..."
        if term in ("about", "around") and self.preposition and is_number(self._at(1) or ","):
            return  # "at about eight"
        excluded = self._at(-1) == "except" or (self._at(-1) == "not" and self._at(-2) in ("but", ","))
        self.preposition = "except" if excluded else term
        self.preposition_place = self.place
        self.joins = False

    def _take_phrase(self) -> None:
        phrase = self.phrase_at(self.place, self.is_verb)
        if not (self.joins and self.extend(phrase)):
            self.attach(phrase)
        self.place = phrase.end + 1
        self.joins = False

    # Lookahead: whether a word is a verb, whether a clause or an enumeration continues

    def _at(self, offset: int = 0) -> str:
        return self.at(self.place + offset)

    def is_verb(self, place: int, kept: Sequence[int] = ()) -> bool:
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
        before = self.at(place - 1)
        if self._resumes(place, forms):
            return True
        if self.top.verb in LETTING and self.top.objects and "base" in forms and before not in DETERMINERS:
            return before not in PREPOSITIONS
        if before in SEVERAL and place - self.place in (0, 1) and not self.top.verb and "base" in forms:
            return self.at(place + 1) in DETERMINERS | POSSESSIVES | {"that", "to"}
        if before in DETERMINERS or before in POSSESSIVES or before.endswith(("'s", "s'")):
            return False
        if before in PREPOSITIONS or before in ("as", "than"):
            return "ing" in forms and before != "per"  # "per missing litre"
        has_subject = self.top.subject is not None or (bool(kept) and not self.preposition)
        return self._is_finite(place, forms, has_subject=has_subject, before=before, kept=kept)

    def _leading(self, place: int) -> str:
        """Return the word before a place and its preceding adverbs: "we" in "we never buy"."""
        while place and (is_adverb(self.tokens[place - 1]) or self.tokens[place - 1] in NEGATORS):
            place -= 1
        return self.at(place - 1)

    def _is_unknown_verb(self, place: int, has_kept: bool) -> bool:
        """Return whether an unknown word must be a verb: a noun is not followed by an article."""
        term, before = self.tokens[place], self.tokens[place - 1] if place else ","
        takes = self.at(place + 1) in DETERMINERS | POSSESSIVES - {"all", "both", "each"}
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
            return not self.preposition and self._begins_order(place) and self.at(place + 1) != "no"
        is_subject = has_kept and not self.preposition
        third = term.endswith("s") and not term.endswith(("ss", "us")) and self.surfaces[place].islower()
        return third and (is_subject or self.top.subject is not None) and before not in DETERMINERS | POSSESSIVES

    def _resumes(self, place: int, forms: frozenset[str]) -> bool:
        """Return whether a verb after a relative clause belongs to the outer clause: "who comes late pays"."""
        top = self.top
        if top.link not in ("rel", "ing") or not top.verb or top.outer is None or top.outer.verb:
            return False
        subject, before = top.outer.subject, self.tokens[place - 1]
        if subject is None or before in DETERMINERS or before in POSSESSIVES or top.verb_place >= place - 1:
            return False
        finite = "past" in forms or ("base" if subject.is_plural else "s") in forms
        return finite and before not in PREPOSITIONS and not is_auxiliary(self.at(place + 1))

    def _is_finite(
        self, place: int, forms: frozenset[str], *, has_subject: bool, before: str, kept: Sequence[int]
    ) -> bool:
        behind = self.at(place + 1)
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
                or (self.top.subject is not None and self.top.subject.is_plural)
            )
            return plural and not self._finite_later(place + 1)
        if "base" in forms and not kept and self._begins_order(place):
            plain = behind == "" or not verb_forms(behind) or "base" in verb_forms(behind)
            return plain and not self._finite_later(place + 1) and not self._is_named_by(place)
        return False

    def _is_named_by(self, place: int) -> bool:
        """Return whether an identifier and a finite verb follow a place: "pump P1 needs oil"."""
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
        """Return whether only adverbs and a finished clause precede a place in its clause."""
        if self.top.subject is not None or self.top.objects:
            return False
        opening = [self.tokens[at] for at in range(self.top.start, place)]
        return all(
            is_adverb(term) or not term[0].isalnum() or term in JOINING or term in NEGATORS for term in opening
        ) or (self.tokens[place - 1] == ",")

    def _clause_follows(self, place: int) -> bool:
        """Return whether a subject and a finite verb follow a place before the next punctuation mark."""
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
            seen = seen or self.opens(at)
        return False

    def _auxiliary_behind(self, place: int) -> bool:
        return is_auxiliary(self.at(place + 1)) or "past" in verb_forms(self.at(place + 1))

    def _is_joined_verb(self, place: int, ahead: str) -> bool:
        if is_auxiliary(ahead):
            return ahead not in ("having", "being")
        forms = verb_forms(ahead)
        if not forms or place >= len(self.tokens) or (self.surfaces[place][0].isupper()):
            return False
        own = verb_forms(self.top.verb_text)
        behind = self.at(place + 1)
        alike = bool(forms & own) or (self.top.is_passive and "past" in forms) or ("past" in forms)
        if "past" not in forms and "ing" not in forms:
            takes = not behind or behind in DETERMINERS | POSSESSIVES | PREPOSITIONS | PRONOUNS or is_number(behind)
            goes_on = "s" in forms and is_nominal(behind or ",") and not self._finite_later(place + 1)
            alike = alike and (takes or goes_on or is_adverb(behind) or self.top.is_order or behind in ("to", ","))
        return alike and not is_auxiliary(behind)

    def _is_limit(self, term: str) -> bool:
        """Return whether "up to", "at least" or "more than" precedes a number; it is then no preposition."""
        pair = (term, self._at(1))
        return pair in LIMITS and is_number(self._at(2) or ",")

    def _is_particle(self, term: str) -> bool:
        beside = self.top.verb_place == self.place - 1 and term in ("off", "up", "out", "away")
        return beside or not self.opens(self.place + 1)

    def _is_told(self) -> bool:
        """Return whether "that" begins an object clause after a person: "told the constable that ..."."""
        return self.top.verb in TELLING and len(self.top.objects) == 1 and not self.top.modifiers

    def _enumerates(self) -> bool:
        """Return whether a comma separates members of an enumeration: a phrase and "and" or a comma follow."""
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

    def _apposes(self, last: Phrase) -> bool:
        """Return whether a comma begins an apposition to the phrase before it: "his boat, the Argo, was ..."."""
        if last.end != self.place - 1 or not self.opens(self.place + 1):
            return False
        if self._at(1) in PRONOUNS and not is_nominal(self._at(2) or ","):
            return False
        phrase = self.phrase_at(self.place + 1, self.is_verb)
        after = phrase.end + 1
        while after < len(self.tokens) and self.tokens[after] in ("of", "from", "in", "by", "named", "called"):
            if not self.opens(after + 1):
                return False
            after = self.phrase_at(after + 1, self.is_verb).end + 1
        if phrase.pronoun or after <= self.place + 1 or is_number(self._at(1)):
            return False
        closes = after >= len(self.tokens) or self.tokens[after] == ","
        behind = self.at(after + 1)
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


def owned(thing: Phrase, owner: Phrase) -> Phrase:
    """Return `thing` with the complement of its "of"."""
    if thing.others:  # a complement after the last member of an enumeration belongs to that member
        return replace(thing, others=(*thing.others[:-1], owned(thing.others[-1], owner)))
    return replace(
        thing, owner=thing.owner | owner.senses | owner.owner, owned_by=(*thing.owned_by, owner), end=owner.end
    )
