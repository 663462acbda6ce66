"""What a trial changed, in words."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sessions_app.models import Experiment, Trial
from sessions_app.queries.knowledge.bases import knowledge_bases
from sessions_app.queries.sessions.pages import known_units

_UNIT_CHARS = 80
_STAGES = {"planner": "planner", "seedDetector": "seed detector", "kb": "KB plugin", "goalSolver": "goal solver"}
_WORDS: Mapping[str, str] = {
    "message": "message", "deliberationLevel": "level", "grounding": "grounding", "systemPrompt": "system prompt",
    "model": "model", "persona": "persona", "agent": "agent", "style": "style",
}  # fmt: skip


def described(experiment: Experiment, trials: Collection[Trial]) -> dict[int, list[str]]:
    """Return short phrases for the changes of each trial, by its number; none for a trial without changes."""
    named = {
        unit_id for trial in trials for name in ("withoutUnits", "onlyUnits") for unit_id in trial.changes.get(name, ())
    }
    texts = {}
    if named and experiment.turn is not None:
        texts = {unit_id: unit.text for unit_id, unit in known_units(experiment.turn, named).items()}
    bases = {}
    if any("base" in trial.changes for trial in trials):
        bases = dict(knowledge_bases(experiment.project).values_list("kb_id", "name"))
    return {trial.position: [*_state(trial), *_phrases(trial.changes, texts, bases)] for trial in trials}


def _state(trial: Trial) -> Iterator[str]:
    """Yield the state of the session that a search through time asked."""
    for finding in trial.findings:
        if finding["kind"] == "moment" and "base" not in trial.changes:
            yield (
                f"the state after turn {finding['number']}" if finding["number"] else "the state before the first turn"
            )


def _phrases(changes: Mapping[str, Any], texts: Mapping[str, str], bases: Mapping[str, str]) -> Iterator[str]:
    for name, word in _WORDS.items():
        if name in changes:
            yield f"{word}: {changes[name]}"
    for unit_id in changes.get("withoutUnits", ()):
        yield f"without “{_short(texts.get(unit_id, unit_id))}”"
    for source_id in changes.get("withoutSources", ()):
        yield f"without the source {source_id}"
    if "onlyUnits" in changes:
        yield "only " + ", ".join(f"“{_short(texts.get(unit_id, unit_id))}”" for unit_id in changes["onlyUnits"])
    for text in changes.get("withUnits", ()):
        yield f"supposed: “{_short(text)}”"
    if "base" in changes:
        revision = f", revision {changes['revision']}" if "revision" in changes else ""
        yield f"base: {bases.get(changes['base'], changes['base'])}{revision}"
    if "historyThrough" in changes:
        yield (
            f"conversation up to message {changes['historyThrough']}"
            if changes["historyThrough"]
            else "no conversation"
        )
    for stage, plugin_id in changes.get("pins", {}).items():
        yield f"{_STAGES[stage]}: {plugin_id}"
    if changes.get("withoutPreferences"):
        yield "no preferred plugins"
    for plugin_id in changes.get("withoutPlugins", ()):
        yield f"without {plugin_id}"
    for group in ("flags", "limits", "sampling"):
        for name, value in (changes.get(group) or {}).items():
            yield f"{name}: {_value(value)}"


def _value(value: Any) -> str:
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _UNIT_CHARS else line[: _UNIT_CHARS - 1] + "…"
