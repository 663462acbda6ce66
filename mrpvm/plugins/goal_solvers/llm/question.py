"""The input of the model: intents, evidence and guidance in separate parts, as JSON."""

import json
from collections.abc import Sequence
from copy import replace
from typing import Any

from mrpvm.contracts import SolveInput
from mrpvm.conversation.context import message_to_read
from mrpvm.conversation.helping import helper_of
from mrpvm.knowledge.forms import requested_forms
from mrpvm.knowledge.payload import context_items, intent_prompt, masked, offered_entries
from mrpvm.values import Evidence, HistoryMessage

FORMS_WITHOUT_MARKS = frozenset(("json", "yaml", "xml", "one_word", "yes_no"))
"""Output forms that a source mark would break; their sources are on the last line."""

HELPER_NOTE = "`helper` is what a trusted program worked out for this intent: rely on it; it needs no mark."


def has_marks(evidence: Evidence) -> bool:
    """Return whether the text of an answer to the intent can contain source marks."""
    return not FORMS_WITHOUT_MARKS & set(requested_forms(evidence))


def question_messages(request: SolveInput, shown: Sequence[Evidence]) -> tuple[HistoryMessage, ...]:
    """Return the history and, as the last message, the intents to answer."""
    said = message_to_read(request.message, request.history)
    content = masked(
        json.dumps(said | {"intents": [_intent(evidence, request) for evidence in shown]}, ensure_ascii=False)
    )
    history = (
        replace(item, content=masked(item.content), tool_input=masked(item.tool_input)) for item in request.history
    )
    return (*history, HistoryMessage(role="user", content=content))


def _intent(evidence: Evidence, request: SolveInput) -> dict[str, Any]:
    context = context_items(offered_entries(evidence))
    fields: dict[str, Any] = {
        "group": evidence.intent.group_number,
        "prompt": intent_prompt(evidence),
        "context": [{"number": number, **item} for number, item in enumerate(context, start=1)],
    }
    guidance = [masked(entry.unit.text) for entry in evidence.guidance.goal_solver]
    helper = helper_of(evidence.intent.group_number, request.helpers)
    if helper is not None and helper.status == "success":
        fields["helper"] = {key: masked(value) for key, value in helper.as_evidence().items()}
        guidance.append(HELPER_NOTE)
    if guidance:
        fields["guidance"] = list(dict.fromkeys(guidance))
    if not has_marks(evidence):
        fields["marks"] = "none in the text; name the sources on the CITED line"
    return fields
