"""What external programs contribute to an answer, and how a group shows it."""

from collections.abc import Iterable
from copy import replace
from typing import Literal

from msgspec import Struct

from mrpvm.values import AnswerGroup


class HelperOutput(Struct, frozen=True, kw_only=True):
    """What a wrapper gave for one intent; an error has a code and a message, a success the rest."""

    intent_ref: int
    plugin: str
    status: Literal["success", "error"]
    result: str = ""
    confidence: str = ""
    evidence: str = ""
    error_code: str = ""
    error_message: str = ""

    def as_evidence(self) -> dict[str, str]:
        """Return what an answer may rest on."""
        shown = {"plugin": self.plugin, "confidence": self.confidence, "result": self.result}
        return shown | ({"evidence": self.evidence} if self.evidence else {})


def helper_of(intent_ref: int, outputs: Iterable[HelperOutput]) -> HelperOutput | None:
    """Return the output for an intent: a success if there is one, else the last failure."""
    own = [output for output in outputs if output.intent_ref == intent_ref]
    return next((output for output in own if output.status == "success"), own[-1] if own else None)


def with_helper(group: AnswerGroup, outputs: Iterable[HelperOutput]) -> AnswerGroup:
    """Return a solver's group with what a helper did for its intent.

    A result is shown with the group and answers it where the solver found nothing. A failure is a warning; a group that
    has no answer then is a `plugin-error`, which says who failed.
    """
    helper = helper_of(group.intent_ref, outputs)
    if helper is None:
        return group
    if helper.status == "success":
        if group.status == "answered":
            return replace(group, plugin_output=helper.as_evidence())
        return replace(
            group, status="answered", answer_markdown=helper.result, cited_unit_ids=(),
            plugin_output=helper.as_evidence(), grounded=True,
        )  # fmt: skip
    warnings = (*group.warnings, f"{helper.plugin} failed: {helper.error_message}")
    if group.status == "answered":
        return replace(group, warnings=warnings)
    text = f"{helper.plugin} was asked and failed. {group.answer_markdown}"
    return replace(group, status="plugin-error", answer_markdown=text, warnings=warnings)
