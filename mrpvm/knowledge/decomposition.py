"""From an admitted intent to what retrieval looks for: shared, deterministic, model-free."""

from collections.abc import Mapping

from mrpvm.english.messages.instructions import output_forms, without_form_phrases
from mrpvm.english.messages.pragmatics import ACT_VERBS
from mrpvm.english.words.lexicon import listed, pattern
from mrpvm.english.words.text import unique_terms, words
from mrpvm.values import ContextProfile, DecomposedIntent, Intent

PREFERRED_ROLES_BY_ACT: Mapping[str, tuple[str, ...]] = {
    "compare": ("Comparison", "Evaluation"),
    "explain": ("Explanation", "Diagnostic", "Narrative"),
    "recommend": ("Comparison", "Evaluation", "Procedure"),
    "diagnose": ("Diagnostic", "Explanation"),
    "implement": ("Procedure", "Constraint"),
    "verify": ("Constraint", "Definition"),
    "define": ("Definition", "Explanation"),
    "evaluate": ("Evaluation", "Comparison", "Narrative"),
    "identify": ("Narrative", "Description", "Definition"),
    "describe": ("Description", "Narrative", "Explanation"),
}
"""Roles that rank higher for an act; never used to exclude."""

_OPENERS_BY_ACT = {act: frozenset(verbs) for act, verbs in ACT_VERBS.items()} | {"explain": listed("asks_explanation")}
_AMOUNT_ASKED = pattern("decomposition.amount_asked")
"""Words that ask and, like "what", occur in no answer."""
_SUFFIXES = ("", "s", "d", "es", "ed", "ing")


def _opens_with_act(first: str, act: str) -> bool:
    verbs = _OPENERS_BY_ACT.get(act, frozenset())
    forms = {verb + suffix for verb in verbs for suffix in _SUFFIXES}
    forms |= {verb.removesuffix("e") + "ing" for verb in verbs} | {verb.removesuffix("y") + "ies" for verb in verbs}
    return first in forms


def intent_target(text: str, act: str) -> str:
    """Return what the intent is about: final marks and an opening verb of its own act removed."""
    bare = text.strip().rstrip(".?! \t")
    head, _, rest = bare.partition(" ")
    opening = words(head)
    if rest.strip() and opening and _opens_with_act(opening[0], act):
        return rest.strip()
    return bare


def _parts(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def decompose(intent: Intent) -> DecomposedIntent:
    """Return the intent in the shape retrieval and solving use."""
    return DecomposedIntent(
        group_number=intent.group_number,
        act=intent.act,
        intent=intent.target,
        target=intent_target(intent.target, intent.act),
        criteria=_parts(intent.criterion),
        evidence=_parts(intent.evidence),
        explicit_context=intent.context,
        output_type=intent.output,
    )


def _max_results(decomposed: DecomposedIntent) -> int:
    if decomposed.act == "identify":
        return 4
    forms = output_forms(decomposed.output_type, decomposed.intent)
    return 5 if "one_word" in forms or "yes_no" in forms else 10


def profile_for(decomposed: DecomposedIntent, *, max_results: int | None = None) -> ContextProfile:
    """Return what retrieval should look for on behalf of one intent.

    Output instructions inside the question shape the answer and are no query terms.

    Args:
        max_results: overrides the limit that the act and the output suggest.
    """
    parts = [without_form_phrases(decomposed.target), *decomposed.criteria, decomposed.explicit_context or ""]
    query_text = " ".join(part for part in parts if part)
    return ContextProfile(
        intent_group_number=decomposed.group_number,
        needed_roles=PREFERRED_ROLES_BY_ACT.get(decomposed.act, ()),
        query_text=query_text,
        query_terms=unique_terms(_AMOUNT_ASKED.sub(" ", query_text)),
        act_boost=decomposed.act,
        max_results=max_results or _max_results(decomposed),
    )
