"""The output form an intent asks for, read alike by solvers and validators."""

from mrpvm.english.messages.instructions import output_forms
from mrpvm.values import Evidence

ACKNOWLEDGEMENT = "acknowledgement"
"""Output of the one intent of a message that only tells something: what was understood is said back."""

REMAINDER = "remainder"
"""Output of the intent that says how many questions of a message were left out: its text is the answer."""


def requested_forms(evidence: Evidence) -> tuple[str, ...]:
    """Return the output forms of an intent: its own, else those of guidance; an acknowledgement has none."""
    if evidence.intent.output in (ACKNOWLEDGEMENT, REMAINDER):
        return ()
    own = output_forms(evidence.intent.output, *evidence.intent.constraints)
    return own or output_forms(*(entry.unit.text for entry in evidence.guidance.goal_solver))
