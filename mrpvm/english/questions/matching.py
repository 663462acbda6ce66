"""Compares a clause of a statement with the clause of a question, role by role."""

from collections.abc import Collection, Iterable
from copy import replace
from itertools import pairwise

from msgspec import Struct

from mrpvm.english.context.discourse import ALTERING, Discourse, Premise, of_another
from mrpvm.english.questions.asking import Query
from mrpvm.english.sentences.structure import Clause, Phrase, Sentence
from mrpvm.english.sentences.values import is_time
from mrpvm.english.words import lexicon
from mrpvm.english.words.reading import ANYBODY, TITLES, sense, sense_class
from mrpvm.english.words.tagging import PARTICLES, is_number, names_time, verb_forms

_GENERIC = lexicon.word_class("i we you one they anyone anybody someone somebody people everyone everybody it")
_ANYONE = lexicon.word_class("anyone anybody everyone everybody someone somebody who whoever")
_NOBODY = lexicon.word_class("nobody none no-one")
_PERIOD = sense("period")
_SAYING_NOTHING = sense_class("own whole entire actual same")
ROLES = ("verb", "subject", "object", "circumstance")
_NUMBERS = frozenset(map(sense, lexicon.NUMBER_WORDS))
PARTNERS = frozenset(("my", "your", "our"))
_FACTIVE = sense_class("report find show confirm agree discover notice point know mean learn see prove")
_SELF_REPORTS = sense_class("tell explain confess admit reveal recall remember")
_ATTITUDES = frozenset(map(sense, lexicon.ATTITUDE_VERBS)) - _FACTIVE
_EXCLUDING = frozenset(("except", "unlike", "without", "despite"))
_EXPECTING = sense_class("expect schedule plan")
_UNREAL = frozenset(("would", "could", "might"))
_LIGHT = {(sense(verb), sense(noun)): sense(said) for verb, noun, said in lexicon.groups("light_verbs")}
"""Light verbs with their noun, and the verb with the same meaning."""
_SAME_PLACE = lexicon.groups("same_place")
_TRANSFERS = frozenset(("to", "from", "by"))
"""Prepositions before participants of an action: what is given to his sister is not given to him."""
_PREFER, _ALLOW = sense("prefer"), sense("allow")
_EQUAL = [frozenset(map(sense, group)) for group in lexicon.groups("equal_verbs")]
_CONDITIONS = lexicon.word_class("once when whenever until after provided providing")
_WAS, _IS = frozenset(("was", "were")), frozenset(("is", "are", "am"))
_PERIODS = lexicon.classes("periods")


def _is_nobody(phrase: Phrase) -> bool:
    return phrase.pronoun in _NOBODY or (phrase.determiner == "no" and phrase.head_text == "one")


def numbers_in(phrase: Phrase) -> frozenset[str]:
    """Return the numbers among the senses of a phrase."""
    return frozenset(word for word in phrase.senses if is_number(word) or word in _NUMBERS)


class Pair(Struct, frozen=True):
    """A clause of a question, mostly the main clause, and a clause of a statement that may say the same."""

    query: Query
    question: Clause
    clause: Clause
    premise: Premise
    discourse: Discourse

    @property
    def parsed(self) -> Sentence:
        return self.premise.parsed

    def of(self, question: Clause, clause: Clause) -> "Pair":
        """Return a pair of other clauses of the same question and statement."""
        return replace(self, question=question, clause=clause)

    def texts(self, phrases: Iterable[Phrase]) -> list[str]:
        """Return phrases of the statement as written."""
        return [self.parsed.text_of(phrase) for phrase in phrases]

    # Phrases

    def same(self, wanted: Phrase, said: Phrase | None) -> bool:
        """Return whether `wanted`, of the question, and `said`, of the statement, refer to the same."""
        members = said.members if said else ()
        return any(self._same_one(wanted, item) for member in members for item in (member, *member.aliases))

    def among(self, wanted: Phrase, phrases: Iterable[Phrase]) -> bool:
        """Return whether one of the statement's phrases refers to the same as `wanted`."""
        return any(self.same(wanted, phrase) for phrase in phrases)

    def _same_one(self, wanted: Phrase, said: Phrase) -> bool:
        if wanted.pronoun in _ANYONE and (said.pronoun == "nothing" or _is_nobody(said)):
            return True
        if said.pronoun in _ANYONE:
            return wanted.determiner in ("a", "an", "any", "") and not wanted.is_name
        meant = self.premise.resolved(said)
        if meant is said:
            return self._matches(wanted, said)
        return any(self._matches(wanted, item) for item in (*meant.members, *meant.aliases))

    def _matches(self, wanted: Phrase, said: Phrase) -> bool:
        if wanted.pronoun or said.pronoun:
            is_house = wanted.pronoun == "you" and said.pronoun == "we" and self.premise.statement.is_of_document
            return is_house or wanted.pronoun == said.pronoun
        if wanted.owner_pronoun in PARTNERS and said.owner_pronoun != wanted.owner_pronoun:
            # "my sister" is nobody else's sister; "the budget" may be ours, and "your hours" are those of the house
            is_document, is_bare = self.premise.statement.is_of_document, said.determiner == "the" and not said.owner
            is_ours = wanted.owner_pronoun == "our" and is_bare and not is_document
            is_house = wanted.owner_pronoun == "your" and is_document and (is_bare or said.owner_pronoun == "our")
            if not (is_ours or is_house):
                return False
        if wanted.head_text in lexicon.TIME_WORDS and numbers_in(wanted) != numbers_in(said):
            return False  # "every two years" is not every year
        left, right = wanted.senses - TITLES, said.senses - TITLES
        is_one_name = wanted.is_name and said.is_name and (left <= right or right <= left)
        is_span = said.head == _PERIOD and said.senses == {wanted.head, said.head}
        if is_one_name or is_span:  # the warranty lasts as long as the warranty period
            return not self._owned_otherwise(wanted, said)
        is_known_by_name = wanted.is_name or said.is_name or any(char.isdigit() for char in said.head)  # "server db-01"
        if wanted.head == said.head or (wanted.head in said.senses and is_known_by_name):
            return self._described(wanted, said) and not self._owned_otherwise(wanted, said)
        return self.discourse.same_thing(wanted, said)

    def _described(self, wanted: Phrase, said: Phrase) -> bool:
        """Return whether the question's description of the thing is in the statement or just before it."""
        if ALTERING & said.senses - wanted.senses:
            return False
        missing = wanted.senses - said.senses - self.premise.owner_of(said) - _SAYING_NOTHING
        if not missing:
            return True
        definite = said.determiner in ("the", "this", "that", "these", "those") or bool(said.owner_pronoun)
        numbers = any(char.isdigit() for word in missing for char in word)
        return definite and not numbers and missing <= self.premise.around and not (said.senses - wanted.senses)

    def _owned_otherwise(self, wanted: Phrase, said: Phrase) -> bool:
        """Return whether the question names another possessor than the statement."""
        if not wanted.owner:
            return False
        owner = self.premise.owner_of(said)
        if wanted.owner & (owner | said.senses):
            return of_another(wanted, said)
        return bool(owner) or not wanted.owner <= self.premise.around

    # Moods and times

    def is_stated(self) -> bool:
        """Return whether the clause is asserted, in the mood of the question."""
        clause, question, outer = self.clause, self.question, self.clause.outer
        if clause.link in ("if", "unless", "whether"):
            return False
        if clause.link == "to" and question.verb:
            is_ahead = outer is not None and outer.is_passive and outer.verb in _EXPECTING and not outer.is_negated
            return is_ahead and bool(question.auxiliaries & {"will", "do", "does"})
        if clause.link in ("that", "ing", "of", "about") and outer is not None and outer.verb in _ATTITUDES:
            return False
        if clause.link == "that" and outer is not None and outer.verb not in _FACTIVE:
            return outer.verb in _SELF_REPORTS and not outer.is_negated
        if not self._same_time():
            return False
        said, wanted = clause.auxiliaries & lexicon.MODALS, question.auxiliaries & lexicon.MODALS
        if wanted and not said and clause.link == "rel" and self.query.wants == "count":
            return False  # "members who miss three" does not tell how many they may miss
        if said & _UNREAL and not wanted & (_UNREAL | {"will", "can"}):
            return False
        if "will" in wanted and said & (_UNREAL | {"may"}) and self.query.wants == "verdict":
            return False
        return not (said & {"may"} and not wanted and not clause.is_negated)

    def _same_time(self) -> bool:
        """Return whether the tenses do not contradict each other, as past and present do."""
        question, said = self.question, self.clause
        for one, other in ((_WAS, _IS), (_IS, _WAS)):
            if question.auxiliaries & one and said.auxiliaries & other:
                return False
        wanted, forms = verb_forms(question.verb_text), verb_forms(said.verb_text)
        if (
            "did" in question.auxiliaries or (not question.auxiliaries and wanted == {"past"})
        ) and said.auxiliaries & lexicon.MODALS:
            return False
        if said.auxiliaries or said.link or said.is_order:
            return True
        if "did" in question.auxiliaries and forms == {"s"}:
            return False
        is_of_now = question.auxiliaries & {"do", "does"} or (not question.auxiliaries and wanted == {"s"})
        return not (is_of_now and forms == {"past"})

    def open_conditions(self) -> set[str]:
        """Return the words that open a condition of the clause which the question does not name."""
        clause, tokens = self.clause, self.parsed.tokens
        words = {
            other.link
            for other in self.parsed.clauses
            if other.link in ("if", "unless") and (other.outer is clause or clause.outer is other.outer)
        }
        if clause.auxiliaries & (lexicon.MODALS | _IS):  # a rule
            words |= _CONDITIONS.intersection(tokens) - {word for word, _ in self.question.modifiers}
            words |= {"long"} if ("long", "as") in pairwise(tokens) else set()
        return words

    # Roles

    def differs(self) -> str:
        """Return the first role in which the clause differs from the question, empty if it says the same."""
        same = (self.same_verb, self.same_agent, self.same_patients, self.same_modifiers)
        return next((role for role, is_same in zip(ROLES, same, strict=True) if not is_same()), "")

    def same_verb(self) -> bool:
        """Return whether the verbs of the clauses have the same meaning and the same particle."""
        question, said = self.question, self.clause
        left, right = _light(question)[0], _light(said)[0]
        if not _are_equal(left, right, _EQUAL):
            return False
        if (left, right) != (question.verb, said.verb):
            return True
        particles = set(question.adverbs) & PARTICLES
        return not particles or particles == set(said.adverbs) & PARTICLES

    def same_agent(self) -> bool:
        """Return whether the agents are the same; imperatives and passives have no particular agent."""
        agent, said = self.question.agent, self.clause
        if agent is None:
            return True
        if agent.pronoun in ("i", "we", "you", "one"):
            is_anybody = _is_anybody(said.agent, agent.pronoun) and not self._is_limited()
            return is_anybody or (agent.pronoun == "you" and self.same(agent, said.agent))
        if agent.pronoun in _GENERIC:
            return agent.pronoun not in ("it", "they") or said.agent is not None
        return self.same(agent, said.agent if said.is_passive else said.subject)

    def _is_limited(self) -> bool:
        """Return whether the clause is only about some of a kind: "visitors with a badge", "guests over 65"."""
        agent = self.clause.agent
        if agent is None or agent.pronoun:
            return False
        behind = (*self.parsed.tokens[agent.end + 1 : agent.end + 2], "")[0]
        described = any(item.link == "rel" and item.subject is agent for item in self.parsed.clauses)
        return (
            bool(agent.owned_by) or (behind in lexicon.PREPOSITIONS and agent.end < self.clause.verb_place) or described
        )

    def same_patients(self) -> bool:
        """Return whether the clause has all patients that the question names."""
        question, said = self.question, self.clause
        beside = ("",) if said.verb == _PREFER else ("", "to", "for")
        near = [*said.patient, *(phrase for word, phrase in said.modifiers if word in beside)]
        for wanted in question.patient:
            if wanted is _light(question)[1]:
                continue
            if question.verb == _ALLOW and said.is_passive and question.is_passive and wanted.pronoun in ("i", "we"):
                if not _is_anybody(said.subject, wanted.pronoun):
                    return False
                continue
            is_subject = question.is_passive and wanted is question.subject
            if not all(self.among(member, said.patient if is_subject else near) for member in wanted.members):
                return False
        return True

    def same_modifiers(self) -> bool:
        """Return whether the statement has the circumstances that the question names."""
        question = self.question
        return all(
            (word == "by" and question.is_passive) or wanted is _light(question)[1] or self._has_modifier(word, wanted)
            for word, wanted in question.modifiers
        ) and all(
            any(self.of(condition, other)._is_condition() for other in self.parsed.clauses)
            for condition in self.query.conditions
        )

    def _has_modifier(self, word: str, wanted: Phrase) -> bool:
        said, premise = self.clause, self.premise
        if word in ("per", "a", "") and _PERIODS.get(wanted.head_text, frozenset()) & set(self.parsed.tokens):
            return True
        clause: Clause | None = said
        while clause is not None:
            for other, phrase in clause.modifiers:
                if other not in _EXCLUDING and _are_equal(word, other, _SAME_PLACE) and self.same(wanted, phrase):
                    return True
            for phrase in (*clause.objects, *([clause.subject] if clause.subject else [])):
                owned = wanted.senses <= premise.owner_of(phrase) | phrase.owner
                if owned and word not in _TRANSFERS:
                    return True
                if clause is said and word in ("per", "of", "with", "about", "for") and self.same(wanted, phrase):
                    return True
            clause = clause.outer if clause.link in ("to", "rel", "ing", "so", "because", "when") else None
        is_time_asked = names_time(wanted.head_text.removesuffix("s"))
        if is_time_asked and any(is_time(phrase, other, self.parsed) for other, phrase in said.modifiers):
            return False  # a sentence with a time of its own does not inherit the time of the sentence before
        if any(other == word for other, _ in said.modifiers) or self._is_another(wanted):
            return False
        return (
            bool(wanted.senses)
            and wanted.senses <= premise.around
            and word in ("in", "at", "during", "of", "on", "for")
        )

    def _is_another(self, wanted: Phrase) -> bool:
        """Return whether the clause may be about another thing of the kind than the place that was named before."""
        agent, said = self.question.agent, self.clause.agent
        if agent is None or said is None or agent.is_name or agent.head != said.head:
            return False
        if said.senses - agent.senses - wanted.senses:
            return True  # "the Alnwick shop" is not in Gateshead
        near = [named for named in self.premise.before if wanted.senses <= named]
        return wanted.is_name and not any(agent.head in named or named == wanted.senses for named in near)

    def _is_condition(self) -> bool:
        question, said = self.question, self.clause
        links = {question.link, said.link}
        return (
            (len(links) == 1 or links <= {"if", "when", "whenever", "once", "while", "after"})
            and question.is_negated == said.is_negated
            and self.same_verb()
            and self.same_agent()
            and self.same_patients()
            and all(self._has_modifier(word, wanted) for word, wanted in question.modifiers)
        )


def _light(clause: Clause) -> tuple[str, Phrase | None]:
    """Return the meaning of a clause's verb and the phrase that belongs to it ("come into force" means to apply)."""
    for phrase in (*clause.objects, *(item for _, item in clause.modifiers)):
        if meaning := _LIGHT.get((clause.verb, phrase.head)):
            return meaning, phrase
    return clause.verb, None


def _are_equal(left: str, right: str, groups: Iterable[Collection[str]]) -> bool:
    """Return whether two words are the same or in one group."""
    return left == right or any(left in group and right in group for group in groups)


def _is_anybody(said: Phrase | None, pronoun: str) -> bool:
    """Return whether a statement about a person holds for the asker: about nobody, "you", or every member."""
    if said is None or _is_nobody(said):
        return True
    if said.pronoun:
        return said.pronoun == pronoun or (said.pronoun in ("you", "one", "anyone", "everyone") and pronoun != "you")
    if said.determiner in ("every", "each", "any"):
        return True
    is_all = said.is_plural and not said.determiner and not said.owner_pronoun
    return (is_all or said.determiner in ("a", "an")) and said.head in ANYBODY and not said.senses - ANYBODY
