"""Whether a clause of a statement says what the clause of a question takes for granted, role by role."""

from mrpvm.english.asking import Asked
from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.lexicon import ATTITUDE_VERBS, MODALS, PREPOSITIONS, word_class
from mrpvm.english.naming import is_generic, is_nobody, same
from mrpvm.english.reading import ANYBODY, sense
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.tagging import PARTICLES, verb_forms
from mrpvm.english.times import names_time
from mrpvm.english.values import is_time

_FACTIVE = frozenset(
    sense(word) for word in word_class("report find show confirm agree discover notice point know mean learn see prove")
)
_SELF_REPORTS = frozenset(sense(word) for word in word_class("tell explain confess admit reveal recall remember"))
_ATTITUDES = frozenset(sense(word) for word in ATTITUDE_VERBS)
EXCLUDING = frozenset(("except", "unlike", "without", "despite"))
_EXPECTING = frozenset(sense(word) for word in ("expect", "schedule", "plan"))
_UNREAL = frozenset(("would", "could", "might"))
_LIGHT = {
    (sense("come"), sense("force")): sense("apply"), (sense("come"), sense("effect")): sense("apply"),
    (sense("take"), sense("effect")): sense("apply"), (sense("take"), sense("place")): sense("hold"),
    (sense("go"), sense("force")): sense("apply"),
}  # fmt: skip
"""Verbs that say little with the noun that says it for them, and the verb that says the same."""
_SAME_PLACE = (
    ("in", "inside", "within", "into", "at", "during"), ("on", "upon", "onto", "at"),
    ("under", "below", "beneath"), ("over", "above", "across"), ("near", "beside", "by", "at"),
    ("to", "towards", "toward", "into", "onto", "for"), ("from", "off", "of"), ("of", "for"), ("of", "about"),
    ("per", "for", "a"), ("with", "by", "using"),
)  # fmt: skip
_CONVERSE = {sense("borrow"): sense("lend"), sense("lend"): sense("borrow")}
_TRANSFERS = frozenset(("to", "from", "by"))
"""Prepositions of who takes part himself: what is given to his sister is not given to him."""
_PREFER = sense("prefer")
_ALLOW = sense("allow")
_EQUAL = (
    frozenset(sense(word) for word in ("marry", "wed")),
    frozenset(sense(word) for word in ("meet", "gather")),
    frozenset(sense(word) for word in ("hold", "happen", "occur")),
    frozenset(sense(word) for word in ("extend", "prolong")),
    frozenset(sense(word) for word in ("cost", "charge")),
    frozenset(sense(word) for word in ("last", "take")),
    frozenset(sense(word) for word in ("support", "handle")),
    frozenset(sense(word) for word in ("study", "learn")),
    frozenset(sense(word) for word in ("remove", "delete", "erase")),
    frozenset(sense(word) for word in ("put", "place")),
)


def is_stated(clause: Clause, asked: Asked) -> bool:
    """Return whether a clause is put forward as so, in the mood the question asks in."""
    if clause.link in ("if", "unless", "whether"):
        return False
    outer = clause.outer
    if clause.link == "to" and asked.clause.verb:
        is_ahead = outer is not None and outer.is_passive and outer.verb in _EXPECTING and not outer.is_negated
        return is_ahead and bool(asked.clause.auxiliaries & {"will", "do", "does"})
    if clause.link == "that" and outer is not None and outer.verb in _ATTITUDES - _FACTIVE:
        return False
    if clause.link == "that" and outer is not None and outer.verb not in _FACTIVE:
        return outer.verb in _SELF_REPORTS and not outer.is_negated
    if clause.link == "ing" and outer is not None and outer.verb in _ATTITUDES - _FACTIVE:
        return False
    if not _same_time(asked.clause, clause):
        return False
    said, wanted = clause.auxiliaries & MODALS, asked.clause.auxiliaries & MODALS
    if wanted and not said and clause.link == "rel" and asked.wants == "count":
        return False  # "members who miss three" does not say how many they may miss
    if said & _UNREAL and not wanted & (_UNREAL | {"will", "can"}):
        return False
    return not (said & {"may"} and not wanted and not clause.is_negated)


def _light(clause: Clause) -> tuple[str, Phrase | None]:
    """Return the meaning of a clause's verb, and the phrase that is part of it ("come into force" is to apply)."""
    for phrase in (*clause.objects, *(item for _, item in clause.modifiers)):
        meaning = _LIGHT.get((clause.verb, phrase.head))
        if meaning:
            return meaning, phrase
    return clause.verb, None


_WAS, _IS = frozenset(("was", "were")), frozenset(("is", "are", "am"))


def _same_time(asked: Clause, said: Clause) -> bool:
    """Return whether what is asked of the past is not told of the present, nor the other way round."""
    if asked.auxiliaries & _WAS and said.auxiliaries & _IS:
        return False
    if asked.auxiliaries & _IS and said.auxiliaries & _WAS:
        return False
    past = "did" in asked.auxiliaries or (not asked.auxiliaries and verb_forms(asked.verb_text) == {"past"})
    if past and said.auxiliaries & MODALS:
        return False
    forms = verb_forms(said.verb_text)
    if said.auxiliaries or said.link or said.is_order:
        return True
    if not asked.auxiliaries and verb_forms(asked.verb_text) == {"s"} and forms == {"past"}:
        return False
    if "did" in asked.auxiliaries and forms == {"s"}:
        return False
    return not (asked.auxiliaries & {"do", "does"} and forms == {"past"})


def same_verb(asked: Clause, said: Clause) -> bool:
    """Return whether two clauses have verbs of one meaning; a particle must not differ."""
    left, right = _light(asked)[0], _light(said)[0]
    if (left, right) != (asked.verb, said.verb):
        return left == right or any(left in group and right in group for group in _EQUAL)
    if asked.verb != said.verb and not any(asked.verb in group and said.verb in group for group in _EQUAL):
        return _CONVERSE.get(asked.verb) == said.verb and said.is_passive and said.agent is None
    asked_off, said_off = set(asked.adverbs) & PARTICLES, set(said.adverbs) & PARTICLES
    return not asked_off or asked_off == said_off


def same_agent(asked: Clause, said: Clause, told: Told, discourse: Discourse) -> bool:
    """Return whether the same one does it; orders and passives are told to nobody in particular."""
    agent = asked.agent
    if agent is None:
        return True
    if agent.pronoun in ("i", "we", "you", "one"):
        is_house = agent.pronoun == "you" and said.agent is not None and said.agent.pronoun == "we"
        if is_house and told.statement.is_of_document:
            return True
        return _is_anybody(said.agent, agent.pronoun) and not is_limited(said, told)
    if is_generic(agent):
        return agent.pronoun not in ("it", "they") or said.agent is not None
    doers = [said.agent] if said.is_passive else [said.subject]
    return any(phrase is not None and same(agent, phrase, told, discourse) for phrase in doers)


def _is_anybody(said: Phrase | None, pronoun: str) -> bool:
    """Return whether what is said of somebody holds for who asks: said of nobody, of "you", or of every member."""
    if said is None or is_nobody(said):
        return True
    if said.pronoun:
        return said.pronoun == pronoun or (said.pronoun in ("you", "one", "anyone", "everyone") and pronoun != "you")
    if said.determiner in ("every", "each", "any"):
        return True
    is_all = said.is_plural and not said.determiner and not said.owner_pronoun
    return (is_all or said.determiner in ("a", "an")) and said.head in ANYBODY and not said.senses - ANYBODY


def is_limited(said: Clause, told: Told) -> bool:
    """Return whether a clause speaks of some of its kind alone: "visitors with a badge", "guests who are over 65"."""
    agent = said.agent
    if agent is None or agent.pronoun:
        return False
    behind = (*told.parsed.tokens[agent.end + 1 : agent.end + 2], "")[0]
    described = any(item.link == "rel" and item.subject is agent for item in told.parsed.clauses)
    return bool(agent.owned_by) or (behind in PREPOSITIONS and agent.end < said.verb_place) or described


def same_patients(asked: Clause, said: Clause, told: Told, discourse: Discourse) -> bool:
    """Return whether everything the question says it is done to is met."""
    for wanted in asked.patient:
        if wanted is _light(asked)[1]:
            continue
        if asked.verb == _ALLOW and said.is_passive and asked.is_passive and wanted.pronoun in ("i", "we"):
            if not _is_anybody(said.subject, wanted.pronoun):
                return False
            continue
        for member in wanted.members:
            if asked.is_passive and wanted is asked.subject:
                near = list(said.patient)
            else:
                beside = ("",) if said.verb == _PREFER else ("", "to", "for")
                near = [*said.patient, *(phrase for word, phrase in said.modifiers if word in beside)]
            if not any(same(member, phrase, told, discourse) for phrase in near):
                return False
    return True


def same_modifiers(asked: Asked, said: Clause, told: Told, discourse: Discourse) -> bool:
    """Return whether the circumstances the question names are those of the statement."""
    for word, wanted in asked.clause.modifiers:
        if (word == "by" and asked.clause.is_passive) or wanted is _light(asked.clause)[1]:
            continue
        if not _has_modifier(word, wanted, said, told, discourse):
            return False
    return all(
        any(_same_condition(condition, other, told, discourse) for other in told.parsed.clauses)
        for condition in asked.conditions
    )


_PERIODS = {
    "year": word_class("annual annually yearly"),
    "month": word_class("monthly"),
    "week": word_class("weekly"),
    "day": word_class("daily"),
    "hour": word_class("hourly"),
}


def _has_modifier(word: str, wanted: Phrase, said: Clause, told: Told, discourse: Discourse) -> bool:
    if word in ("per", "a", "") and _PERIODS.get(wanted.head_text, frozenset()) & set(told.parsed.tokens):
        return True
    clause: Clause | None = said
    while clause is not None:
        for other, phrase in clause.modifiers:
            if other not in EXCLUDING and _same_place(word, other) and same(wanted, phrase, told, discourse):
                return True
        for phrase in (*clause.objects, *([clause.subject] if clause.subject else [])):
            owned = wanted.senses <= told.owner_of(phrase) | phrase.owner
            if (owned and word not in _TRANSFERS) or (
                clause is said
                and word in ("per", "of", "with", "about", "for")
                and same(wanted, phrase, told, discourse)
            ):
                return True
        clause = clause.outer if clause.link in ("to", "rel", "ing", "so", "because", "when") else None
    is_time_asked = names_time(wanted.head_text.removesuffix("s"))
    if is_time_asked and any(is_time(phrase, other, told.parsed) for other, phrase in said.modifiers):
        return False  # the time of the sentence before does not hold beside its own
    if any(other == word for other, _ in said.modifiers):
        return False
    return bool(wanted.senses) and wanted.senses <= told.around and word in ("in", "at", "during", "of", "on", "for")


def _same_place(asked: str, said: str) -> bool:
    return asked == said or any(asked in group and said in group for group in _SAME_PLACE)


def _same_condition(asked: Clause, said: Clause, told: Told, discourse: Discourse) -> bool:
    links = (asked.link, said.link)
    alike = links[0] == links[1] or (
        all(link in ("if", "when", "whenever", "once", "while", "after") for link in links)
    )
    return (
        alike
        and same_verb(asked, said)
        and asked.is_negated == said.is_negated
        and same_agent(asked, said, told, discourse)
        and same_patients(asked, said, told, discourse)
        and all(_has_modifier(word, wanted, said, told, discourse) for word, wanted in asked.modifiers)
    )


def has_open_condition(clause: Clause, told: Told) -> bool:
    """Return whether a clause holds only under a condition that its sentence names."""
    return any(
        other.link in ("if", "unless") and (other.outer is clause or clause.outer is other.outer)
        for other in told.parsed.clauses
    )
