"""The page of an experiment: the recorded turn and its trials side by side, and the results of a search."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from sessions_app.layers import mounted_revision
from sessions_app.models import Experiment, Session, Trial
from sessions_app.queries.experiments.experiments import ranked_findings, trials
from sessions_app.queries.turns.outcomes import listed_outcome
from sessions_app.queries.turns.registry import answer_of, cited_unit_ids
from sessions_app.web.experiments.described import described
from sessions_app.web.sessions.conversation import turn_tone
from sessions_app.web.shell.words import OUTCOMES
from sessions_app.web.turns.graph.status import Tone, duration_badge

SHOWN_AT_ONCE = 200
_TONES = {"waiting": Tone.ACTIVE, "failed": Tone.ERROR}
_EXPERIMENT_TONES = {"running": Tone.ACTIVE, "finished": Tone.OK, "failed": Tone.ERROR}
_STAGES = ("planner", "seedDetector", "kb", "goalSolver")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialColumn:
    """One column of facts about a trial, or about the recorded turn (`number` 0)."""

    number: int
    changes: tuple[str, ...]
    outcome: str
    tone: Tone
    answer: str
    same_answer: bool
    basis: str
    cited_count: int
    plugins: tuple[str, ...]
    tokens: int | None
    cost: Any
    duration: str
    url: str
    compare_url: str
    again_url: str
    note: str

    @property
    def name(self) -> str:
        """Return its name in links."""
        return f"trial {self.number}" if self.number else "the recorded turn"


def experiment_context(experiment: Experiment, *, may_change: bool) -> dict[str, Any]:
    """Return what the page of an experiment shows."""
    trial_rows = trials(experiment)
    words = described(experiment, trial_rows)
    recorded = _recorded(experiment)
    before = recorded.answer if recorded else None
    rows = [_row(experiment, trial, tuple(words[trial.position]), before) for trial in trial_rows]
    return {
        "experiment": experiment,
        "session": experiment.session,
        "turn": experiment.turn,
        "asked": experiment.turn.user_message if experiment.turn else experiment.message,
        "tone": _EXPERIMENT_TONES.get(experiment.status, Tone.WARN),
        "rows": [*([recorded] if recorded else []), *rows][: SHOWN_AT_ONCE + 1],
        "has_cost": any(row.cost is not None for row in rows),
        "findings": findings_context(experiment),
        "is_behind": experiment.kind == "diagnosis" and _is_behind(experiment.session),
        "may_change": may_change,
    }


def findings_context(experiment: Experiment) -> list[dict[str, Any]]:
    """Return the findings of a search for causes, the likeliest first, each with its link."""
    if experiment.kind != "diagnosis":
        return []
    return [
        {
            **finding,
            "url": _turn_url(experiment, trial, "turn"),
            "compare_url": _turn_url(experiment, trial, "turn-compare"),
            "answer": trial.answer,
            "units": [link["id"] for link in finding["links"] if link["kind"] == "unit"],
            "bases": [link for link in finding["links"] if link["kind"] == "base"],
        }
        for trial, finding in ranked_findings(experiment)
    ]


def _is_behind(session: Session) -> bool:
    """Return whether the session's base has a newer revision than the session sees."""
    origin = mounted_revision(session)
    return origin is not None and origin[1] < session.mounted_kb.revision


def _turn_url(experiment: Experiment, trial: Trial, name: str) -> str:
    if trial.trace is None:
        return ""
    return reverse(name, args=[experiment.session.session_id, trial.trace.request_id])


def _recorded(experiment: Experiment) -> TrialColumn | None:
    turn = experiment.turn
    if turn is None:
        return None
    plugins = (turn.planner_plugin, turn.seed_detector_plugin, turn.kb_plugin, turn.goal_solver_plugin)
    return TrialColumn(
        number=0,
        changes=(),
        outcome=OUTCOMES[listed_outcome(turn)],
        tone=turn_tone(turn),
        answer=answer_of(turn) or (turn.error or {}).get("message", ""),
        same_answer=True,
        basis=turn.answer_basis,
        cited_count=len(cited_unit_ids(turn)),
        plugins=tuple(name for name in plugins if name),
        tokens=turn.token_count,
        cost=None,
        duration=duration_badge(turn.duration_ms),
        url=reverse("turn", args=[experiment.session.session_id, turn.request_id]),
        compare_url="",
        again_url="",
        note="",
    )


def _row(experiment: Experiment, trial: Trial, changes: tuple[str, ...], before: str | None) -> TrialColumn:
    answered = trial.trace if trial.status == Trial.Status.SUCCEEDED else None
    again = ""
    if experiment.turn is not None and trial.turn_id in (None, experiment.turn_id):
        address = reverse("turn-try", args=[experiment.session.session_id, experiment.turn.request_id])
        again = f"{address}?experiment={experiment.experiment_id}&from={trial.position}"
    return TrialColumn(
        number=trial.position,
        changes=changes,
        outcome=OUTCOMES[listed_outcome(answered)] if answered else trial.get_status_display(),
        tone=turn_tone(answered) if answered else _TONES.get(trial.status, Tone.WARN),
        answer=trial.answer or (trial.error or {}).get("message", ""),
        same_answer=trial.answer == before,
        basis=trial.basis,
        cited_count=len(trial.cited_unit_ids),
        plugins=tuple(trial.plugins[stage] for stage in _STAGES if trial.plugins.get(stage)),
        tokens=trial.token_count,
        cost=trial.cost,
        duration=duration_badge(trial.duration_ms) if trial.duration_ms is not None else "",
        url=_turn_url(experiment, trial, "turn"),
        compare_url=_turn_url(experiment, trial, "turn-compare") if experiment.turn else "",
        again_url=again,
        note="" if trial.has_effect else "Nothing that the machine is given has changed.",
    )
