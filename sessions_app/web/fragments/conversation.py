"""The conversation as the session page shows it: exchanges, each with its turn, failed ones among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.safestring import SafeString

from mrpvm import registry
from sessions_app.queries.knowledge import knowledge_bases
from sessions_app.queries.pages import conversation
from sessions_app.turns.language_model import is_configured
from sessions_app.web.fragments.session_skills import completion_context
from sessions_app.web.graph.status import Tone, tone_of
from sessions_app.web.prose import prose
from sessions_app.web.words import ending, why

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn, Message, Project, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One message that is not the user's; `html` is filled for the assistant's prose."""

    message: "Message"
    html: SafeString | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What was asked in a turn and what came of it."""

    turn: "ExplainabilityTurn"
    answers: tuple[Answer, ...]
    ending: str
    tone: Tone
    reason: str


def exchanges_context(session: "Session", before: int | None, count: int | None = None) -> dict[str, Any]:
    """Give a window of the conversation and the address of what came before it.

    Args:
        count: how many rows the reader has on the page already.
    """
    window = conversation(session, before, count)
    return {
        "session": session,
        "imported": [_answer(message, "") for message in window.imported],
        "imported_left_out": window.imported_left_out,
        "exchanges": [_exchange(session, turn) for turn in window.turns],
        "older_before": window.older_before,
        "is_window_moved": before is not None,
    }


def turn_tone(turn: "ExplainabilityTurn") -> Tone:
    """Give the colour of a turn's end; an answer that found nothing is weak, a command's refusal an error."""
    if turn.kind == "command":
        return tone_of("succeeded" if (turn.command_result or {}).get("status") == "ok" else "failed")
    return tone_of("no-context" if turn.answer_status == "no-context" else turn.status)


def _exchange(session: "Session", turn: "ExplainabilityTurn") -> Exchange:
    sources_url = reverse("turn", args=[session.session_id, turn.request_id]) + "#context"
    error = turn.error or {}
    return Exchange(
        turn=turn,
        answers=tuple(_answer(message, sources_url) for message in turn.messages.all() if message.role != "user"),
        ending=ending(turn.status, turn.answer_status),
        tone=turn_tone(turn),
        reason=why(str(error.get("code", ""))),
    )


def _answer(message: "Message", sources_url: str) -> Answer:
    html = prose(message.content, sources_url) if message.role == "assistant" else None
    return Answer(message=message, html=html)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One selector of the composer; its first choice is to leave it open."""

    name: str
    label: str
    hint: str
    open_choice: str
    choices: Sequence[tuple[str, str]]


_PLUGIN_CONTROLS = (
    ("planner_plugin", "mrp-plan-plugin", "Planner", "Chooses the plugins and their order"),
    ("seed_detector_plugin", "sd-plugin", "Message reader (seed detector)", "Reads intents and facts from the message"),
    ("kb_plugin", "kb-plugin", "Retriever (KB plugin)", "How knowledge is searched, not which"),
    ("goal_solver_plugin", "gs-plugin", "Goal solver", "Writes the answer from what was found"),
)  # fmt: skip


def composer_context(project: "Project", session: "Session") -> dict[str, Any]:
    """Give the composer's selectors; leaving one open pins nothing [UI-10]."""
    preferred = {
        "planner_plugin": session.preferred_planner_plugin,
        "seed_detector_plugin": session.preferred_seed_detector_plugin,
        "kb_plugin": session.preferred_kb_plugin,
        "goal_solver_plugin": session.preferred_goal_solver_plugin,
    }
    controls = [
        Control(
            name=name,
            label=label,
            hint=hint,
            open_choice=f"auto ({preferred[name]} first)" if preferred[name] else "auto",
            choices=[
                (item.id, item.name or item.id)
                for item in registry.installed.descriptors(plugin_type)
                if is_configured() or not item.uses_llm
            ],
        )
        for name, plugin_type, label, hint in _PLUGIN_CONTROLS
    ]
    level = session.preferred_deliberation_level
    levels = [(str(number), words) for number, words in enumerate(("0: direct", "1: check", "2: compare", "3: deep"))]
    controls.append(
        Control(
            name="deliberation_level",
            label="Deliberation level",
            hint="How much is tried and compared",
            open_choice=f"auto ({level})",
            choices=levels,
        )
    )
    bases = knowledge_bases(project)
    controls.append(
        Control(
            name="kb_id",
            label="Knowledge base",
            hint="What is searched; another one is mounted with the next message",
            open_choice=f"as mounted: {session.mounted_kb.name}",
            choices=[(base.kb_id, base.name) for base in bases if base.pk != session.mounted_kb_id],
        )
    )
    return {**completion_context(session), "controls": controls}
