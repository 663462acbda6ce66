"""The composer's controls: the choices for the next message, including those that cannot be used now."""

from collections.abc import Mapping, Sequence
from copy import replace
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mrpvm import registry
from mrpvm.contracts import Descriptor
from sessions_app.language_model import NO_MODEL, is_configured
from sessions_app.models import Project, Session
from sessions_app.queries.knowledge.bases import offered_bases


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlOption:
    """One value of a control; unusable ones are shown too, so that the user knows of them."""

    value: str
    words: str
    is_usable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One selector of the composer; its first option chooses nothing."""

    name: str
    label: str
    hint: str
    open_choice: str
    choices: Sequence[ControlOption]
    chosen: str = ""


_PLUGIN_CONTROLS = (
    ("planner_plugin", "mrp-plan-plugin", "Planner", "Chooses the plugins and their order"),
    ("seed_detector_plugin", "sd-plugin", "Message reader (seed detector)", "Reads intents and facts from the message"),
    ("kb_plugin", "kb-plugin", "Retriever (KB plugin)", "How knowledge is searched, not which"),
    ("goal_solver_plugin", "gs-plugin", "Goal solver", "Writes the answer from what was found"),
)  # fmt: skip
_LEVELS = ("0: direct", "1: check", "2: compare", "3: deep")
_GROUNDINGS = (("strict", "strict: evidence or no answer"), ("open", "open: a model may answer by itself"))


def composer_context(
    project: Project,
    session: Session,
    written: Mapping[str, str] = MappingProxyType({}),
    *,
    with_controls: bool = False,
) -> dict[str, Any]:
    """Return the composer, and its selectors on request; the first option of a selector pins nothing.

    Args:
        written: values of the fields by name; the selectors are shown if one of them is set.
    """
    # A choice that is sent with the next message must be visible.
    has_choices = any(value for name, value in written.items() if name != "content")
    return {
        "session": session,
        "controls": _controls(project, session, written) if with_controls or has_choices else None,
        "has_choices": has_choices or with_controls,
        "written": written,
        "has_model": is_configured(),
        "no_model": NO_MODEL,
    }


def _controls(project: Project, session: Session, written: Mapping[str, str]) -> list[Control]:
    offered = [*_plugins(session), _level(session), _base(project, session), _grounding(session)]
    return [replace(control, chosen=written.get(control.name, "")) for control in offered]


def _plugins(session: Session) -> list[Control]:
    preferred = (
        session.preferred_planner_plugin,
        session.preferred_seed_detector_plugin,
        session.preferred_kb_plugin,
        session.preferred_goal_solver_plugin,
    )
    return [
        Control(
            name=name,
            label=label,
            hint=hint,
            open_choice=f"auto ({first} first)" if first else "auto",
            choices=[_plugin(item) for item in registry.installed.descriptors(plugin_type)],
        )
        for (name, plugin_type, label, hint), first in zip(_PLUGIN_CONTROLS, preferred, strict=True)
    ]


def _plugin(descriptor: Descriptor) -> ControlOption:
    is_usable = is_configured() or not descriptor.uses_llm
    words = descriptor.name or descriptor.id
    return ControlOption(
        value=descriptor.id, words=words if is_usable else f"{words} (needs a language model)", is_usable=is_usable
    )


def _level(session: Session) -> Control:
    return Control(
        name="deliberation_level",
        label="Deliberation level",
        hint="How much is tried and compared",
        open_choice=f"auto ({session.preferred_deliberation_level})",
        choices=[ControlOption(value=str(number), words=words) for number, words in enumerate(_LEVELS)],
    )


def _base(project: Project, session: Session) -> Control:
    offered, goes_on = offered_bases(project)
    others = [ControlOption(value=base.kb_id, words=base.name) for base in offered if base.pk != session.mounted_kb_id]
    rest = ControlOption(value="", words=f"only the first {len(offered)} are offered here", is_usable=False)
    return Control(
        name="kb_id",
        label="Knowledge base",
        hint="What is searched; another one is mounted with the next message",
        open_choice=f"as mounted: {session.mounted_kb.name}",
        choices=[*others, rest] if goes_on else others,
    )


def _grounding(session: Session) -> Control:
    return Control(
        name="grounding",
        label="Grounding",
        hint="Whether answers may go beyond what was found",
        open_choice=f"auto ({session.grounding})" if session.grounding else "auto",
        choices=[ControlOption(value=value, words=words, is_usable=is_configured()) for value, words in _GROUNDINGS],
    )
