"""Diagnosis: a bounded search of trials for what an answer depends on, or for what makes an expectation come true."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import replace
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from msgspec import structs

from mrpvm import registry
from mrpvm.contracts import Descriptor
from mrpvm.conversation.preparation import ConversationState
from mrpvm.english.words.text import unique_terms
from mrpvm.errors import Conflict, MRPError, TurnCancelled, TurnInterrupted
from mrpvm.learning import TYPE_BY_STAGE
from mrpvm.preview import counted
from mrpvm.trace.events import PluginFinished, PluginStarted, said
from mrpvm.values import Selection
from sessions_app.experiments.replays.recorded import RecordedTurn, error_code, recorded_turn
from sessions_app.experiments.trials.changes import Changes
from sessions_app.experiments.trials.live import LiveModel
from sessions_app.experiments.trials.trial import NEEDS_MODEL, TrialOutcome, run_trial
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.models import KnowledgeBase, UnitEvent
from sessions_app.queries.experiments.rerun import base_of_id, chat_turns_before, other_bases, units_of
from sessions_app.queries.turns.context_sections import sections
from sessions_app.queries.turns.registry import answer_of, cited_unit_ids, judged_units

type FindingKind = Literal[
    "unit", "outranked", "old-revision", "missing-base", "cut", "rewrite", "plugin", "validator", "limit", "setting"
]
type Reach = Literal["cited", "selected", "pruned", "offered", "not-found"]
"""How far a statement came in a turn."""
MOST_BASES, MOST_UNITS = 12, 12
"""How many other bases are tried, and how many units are left out one by one."""
ENOUGH_FINDINGS = 3
"""How many findings that meet the expectation end a search that is not exhaustive."""
_TURNS_BACK = 5
"""How many earlier turns are searched for other settings of the session."""
_QUOTED_CHARS = 120
_KNOWN_HITS = 20
_REACHES: tuple[Reach, ...] = ("cited", "selected", "pruned", "offered", "not-found")
_WIDE_TURNS = 500
"""The exchanges of a window that cuts nothing."""
_TOO_LONG = ("PLUGIN_TIMEOUT", "ENGINE_TIMEOUT", "ENGINE_BUDGET_EXCEEDED")
_STAGES: Mapping[str, tuple[str, str]] = {
    "kb-plugin": ("kb", "retriever"),
    "gs-plugin": ("goal_solver", "solver"),
    "sd-plugin": ("seed_detector", "detector"),
    "mrp-plan-plugin": ("planner", "planner"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What the answer should have said, or should not have; without either, the question is what it depends on."""

    should_contain: str = ""
    should_not_contain: str = ""

    @property
    def is_stated(self) -> bool:
        """Return whether anything is expected."""
        return bool(self.should_contain or self.should_not_contain)

    def is_met(self, answer: str) -> bool:
        """Return whether an answer says what it should and nothing of what it should not."""
        return says(answer, self.should_contain) and not (
            self.should_not_contain and says(answer, self.should_not_contain)
        )


def shows_only(answer_status: str | None, cited_unit_ids: Sequence[str]) -> bool:
    """Return whether an answer only shows statements and answers nothing: the closest passage, or several that differ.

    What is expected is not yet answered where it stands in one of them.
    """
    return answer_status == "no-context" and bool(cited_unit_ids)


def compared_text(text: str) -> str:
    """Return a text as answers are compared: without differences of case and white space."""
    return " ".join(text.split()).casefold()


def says(text: str, wanted: str) -> bool:
    """Return whether a text contains another, whose numbers and words are whole.

    "18 kg" and "1.8 kg" do not say "8 kg", and "I don't know" does not say "no"; "two bikes" says "bike". Scripts
    without letters of two cases, some of which write no spaces, are searched for any part.
    """
    words = compared_text(wanted)
    return re.search(f"{_before(words[:1])}{re.escape(words)}{_after(words[-1:])}", compared_text(text)) is not None


def _before(char: str) -> str:
    if char.isdigit():
        return r"(?<!\d)(?<!\d[.,])"
    return r"(?<![^\W\d_])" if _has_case(char) else ""


def _after(char: str) -> str:
    if char.isdigit():
        return r"(?!\d)(?![.,]\d)"
    return r"(?:e?s)?(?![^\W\d_])" if _has_case(char) else ""


def _has_case(char: str) -> bool:
    return char.lower() != char.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much a search may do."""

    max_trials: int = 60
    max_ms: int = 10_000
    exhaustive: bool = False


USUAL_BOUNDS = Bounds()
"""The bounds where nobody asks for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What a finding speaks of: a unit, a base, or a plugin, by id."""

    kind: Literal["unit", "base", "plugin"]
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A cause, proved by the trial that was run: what it answered in place of the turn's answer."""

    kind: FindingKind
    text: str
    advice: str
    before: str
    outcome: TrialOutcome
    meets: bool
    weight: int
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownStatement:
    """A statement that the turn could have found and that says what was expected; `rank` is its best one."""

    unit_id: str
    text: str
    place: Reach
    rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStep:
    """A group of trials of one kind, and its name where it was not tried."""

    name: str
    weight: int
    findings: Callable[[], Iterator[Finding]]


@dataclass
class CauseSearch:
    """A running search: `findings` grows while `run` is iterated.

    `tick` is called in and between trials; what it raises ends the search. `place` is held by each trial. `live` gives
    the model that a trial may ask what the turn did not ask, None for none; it is asked only where a trial needs it.
    """

    recorded: RecordedTurn
    expected: Expectation
    bounds: Bounds = USUAL_BOUNDS
    tick: Callable[[], None] = lambda: None
    place: Callable[[], AbstractContextManager[None]] = nullcontext
    live: Callable[[], LiveModel | None] = lambda: None
    tried: list[TrialOutcome] = field(default_factory=list)
    not_tried: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def run(self) -> Iterator[Finding]:
        """Return the findings as they are proved; afterwards `not_tried` names what was left.

        Raises:
            TurnCancelled, TurnInterrupted: `tick` or `place` raised it.
        """
        self._ends_at = time.monotonic() + self.bounds.max_ms / 1000
        for step in self._steps():
            if self._is_over():
                self.not_tried.append(step.name)
                continue
            try:
                for finding in step.findings():
                    self.findings.append(finding)
                    yield finding
            except (TurnCancelled, TurnInterrupted):
                raise
            except MRPError:  # out of bounds, or nothing that can be tried any more, such as a persona that is gone
                self.not_tried.append(step.name)

    def position_of(self, outcome: TrialOutcome) -> int:
        """Return which of the trials this is, counted from 1."""
        return next(position for position, other in enumerate(self.tried, start=1) if other is outcome)

    @cached_property
    def _before(self) -> str:
        """What the turn answered."""
        return answer_of(self.recorded.turn)

    @cached_property
    def _is_shown(self) -> bool:
        """Whether what is expected stands in the turn's answer, such as in a quoted passage."""
        return bool(self.expected.should_contain) and self.expected.is_met(self._before)

    @property
    def needing_model_count(self) -> int:
        """Return how many trials had no result because they needed a model."""
        return sum(outcome.status == NEEDS_MODEL for outcome in self.tried)

    def _is_over(self) -> bool:
        if self._is_spent():
            return True
        met = sum(finding.meets for finding in self.findings)
        return self.expected.is_stated and not self.bounds.exhaustive and met >= ENOUGH_FINDINGS

    def _is_spent(self) -> bool:
        return len(self.tried) >= self.bounds.max_trials or time.monotonic() >= self._ends_at

    def _try(self, changes: Changes) -> TrialOutcome:
        """Run one trial, or return the one that was run with these changes."""
        self.tick()
        for earlier in self.tried:
            if earlier.changes == changes:
                return earlier
        if self._is_spent():
            raise _OutOfBounds("The search may try no more.")
        with self.place():
            outcome = run_trial(self.recorded, changes, self.tick)
            live = self.live() if outcome.status == NEEDS_MODEL else None
            if live is not None and live.is_allowed:
                outcome = run_trial(self.recorded, changes, self.tick, live)
        self.tick()  # a trial that was stopped says nothing
        self.tried.append(outcome)
        return outcome

    def _is_news(self, outcome: TrialOutcome) -> bool:
        """Return whether a trial says anything about the cause."""
        if outcome.status != "succeeded":
            return False
        if self.expected.is_stated:
            return self._meets(outcome)
        return compared_text(outcome.answer) != compared_text(self._before)

    def _meets(self, outcome: TrialOutcome) -> bool:
        """Return whether a trial answers as expected; where the turn showed that already, it has to be more."""
        is_only_shown = self._is_shown and shows_only(outcome.answer_status, outcome.cited_unit_ids)
        return self.expected.is_met(outcome.answer) and not is_only_shown

    def _finding(
        self, kind: FindingKind, outcome: TrialOutcome, weight: int, text: str, advice: str, *links: Link
    ) -> Finding:
        return Finding(
            kind=kind,
            text=text,
            advice=advice,
            before=self._before,
            outcome=outcome,
            meets=self.expected.is_stated and self._meets(outcome),
            weight=weight,
            links=links,
        )

    def _steps(self) -> list[SearchStep]:
        return [
            SearchStep(
                name="the message as it was asked, without rewriting", weight=1, findings=self._without_rewriting
            ),
            SearchStep(name="the whole conversation in place of the window", weight=2, findings=self._without_cuts),
            SearchStep(name="the choices that were made for the turn", weight=3, findings=self._without_choices),
            SearchStep(name="validators that refused", weight=4, findings=self._without_validators),
            SearchStep(name="higher limits", weight=5, findings=self._with_more),
            SearchStep(name="the newest revision of the base", weight=7, findings=self._newest_revision),
            SearchStep(name="units left out", weight=10, findings=self._without_units),
            SearchStep(name="units that lost against cited ones", weight=20, findings=self._outranked),
            SearchStep(name="other knowledge bases", weight=30, findings=self._other_bases),
            SearchStep(name="other plugins", weight=40, findings=self._other_plugins),
            SearchStep(name="other deliberation levels", weight=50, findings=self._other_levels),
            SearchStep(name="earlier settings of the session", weight=60, findings=self._earlier_settings),
        ]

    # What was in force in this turn and need not have been: where it decides, it is the likeliest cause.

    def _without_rewriting(self) -> Iterator[Finding]:
        flags = self.recorded.state.asked.flags
        if not flags.enable_query_rewriting:
            outcome = self._try(Changes(flags={"enable_query_rewriting": True}))
            if self._is_news(outcome):
                text = f"The message was not understood from the conversation; with rewriting: {_quoted(outcome)}."
                yield self._finding("rewrite", outcome, 1, text, "Switch on query rewriting")
            return
        if not self.recorded.state.messages and not self.recorded.state.asked.history:
            return
        outcome = self._try(Changes(flags={"enable_query_rewriting": False}))
        if self._is_news(outcome):
            text = f"The message was read with words of the conversation; as it was asked: {_quoted(outcome)}."
            yield self._finding(
                "rewrite", outcome, 1, text, "Switch off query rewriting for this message, or ask in full"
            )
        alone = self._try(Changes(history_through=0))
        if self._is_news(alone) and not self._is_news(outcome):
            text = f"What was said before decides; without the conversation: {_quoted(alone)}."
            yield self._finding("rewrite", alone, 8, text, "Ask in full, or in a new session")

    def _without_cuts(self) -> Iterator[Finding]:
        state = self.recorded.state
        windows = [section for section in sections(self.recorded.turn) if section["name"] == "conversation"]
        shown = sum(section.get("kept_count", 0) for section in windows)
        if state.last_place <= shown and not state.summary.through:
            return
        wide: dict[str, Any] = {"history_max_turns": _WIDE_TURNS, "enable_history_summarization": False}
        outcome = self._try(Changes(flags=wide))
        if self._is_news(outcome):
            note = f"{shown} of {state.last_place} messages were seen"
            text = f"The window cut what was needed: {note}; with the whole conversation: {_quoted(outcome)}."
            yield self._finding("cut", outcome, 2, text, "Raise the window (history_max_turns)")

    def _without_choices(self) -> Iterator[Finding]:
        pins = self.recorded.state.asked.pins
        for kind, (stage, noun) in _STAGES.items():
            pinned = getattr(pins, stage)
            if pinned is None:
                continue
            for other in self._others(kind, {pinned}):
                outcome = self._try(Changes(pins=Selection(**{stage: other.id})))
                if self._is_news(outcome):
                    yield self._plugin_finding(outcome, 3, noun, pinned, other, "was asked for by name")
                    break
        if self.recorded.state.preferences != Selection():
            outcome = self._try(Changes(without_preferences=True))
            if self._is_news(outcome):
                text = f"The session's preferred plugins decide; as in a new session: {_quoted(outcome)}."
                yield self._finding("plugin", outcome, 6, text, "Reset the session's preferred plugins")

    def _plugin_finding(
        self, outcome: TrialOutcome, weight: int, noun: str, used: str, other: Descriptor, why: str
    ) -> Finding:
        gave = "this answer" if self._before else "no answer"
        text = f"The {noun} {used} {why} and gave {gave}; with {other.id}: {_quoted(outcome)}."
        return self._finding(
            "plugin", outcome, weight, text, f"Use {other.name}", Link(kind="plugin", id=used, name=used),
            Link(kind="plugin", id=other.id, name=other.name),
        )  # fmt: skip

    def _without_validators(self) -> Iterator[Finding]:
        called = {call.execution_id: call.plugin_id for call in said(PluginStarted, self.recorded.events)}
        refused = {
            called[ended.execution_id]
            for ended in said(PluginFinished, self.recorded.events)
            if ended.status == "rejected" and ended.execution_id in called
        }
        for plugin_id in sorted(refused):
            outcome = self._try(Changes(without_plugins=(plugin_id,)))
            if self._is_news(outcome):
                text = f"{plugin_id} refused an answer; without it: {_quoted(outcome)}."
                link = Link(kind="plugin", id=plugin_id, name=plugin_id)
                yield self._finding("validator", outcome, 4, text, "Look at what the validator refuses", link)

    def _with_more(self) -> Iterator[Finding]:
        codes = {error_code(record) for record in self.recorded.records}
        if codes.isdisjoint(_TOO_LONG):
            return
        limits = self.recorded.state.asked.limits
        doubled = {
            "request_timeout_ms": 2 * limits.request_timeout_ms, "plugin_timeout_ms": 2 * limits.plugin_timeout_ms,
            "max_llm_calls": 2 * limits.max_llm_calls,
        }  # fmt: skip
        outcome = self._try(Changes(limits=doubled))
        if self._is_news(outcome):
            text = f"A limit was reached; with twice the time and calls: {_quoted(outcome)}."
            yield self._finding("limit", outcome, 5, text, "Raise the limits of a turn")

    # What the turn knew.

    def _without_units(self) -> Iterator[Finding]:
        cited = [unit_id for unit_id in cited_unit_ids(self.recorded.turn) if unit_id in self._texts]
        is_found = False
        for unit_id in cited[:MOST_UNITS]:
            outcome = self._try(Changes(without_units=(unit_id,)))
            if self._is_news(outcome):
                is_found = True
                yield self._unit_finding(outcome, (unit_id,))
        if cited and not is_found:
            together = self._needed_together(cited)
            if together is not None:
                is_found = True
                yield together
        for unit_id in [unit for unit in self._selected if unit not in cited][: 0 if is_found else MOST_UNITS]:
            outcome = self._try(Changes(without_units=(unit_id,)))
            if self._is_news(outcome):
                yield self._unit_finding(outcome, (unit_id,))

    def _unit_finding(self, outcome: TrialOutcome, unit_ids: tuple[str, ...]) -> Finding:
        said = " and ".join(f"“{_short(self._texts.get(unit_id, unit_id))}”" for unit_id in unit_ids)
        verb = "decides" if len(unit_ids) == 1 else "decide"
        text = f"{said} {verb} the answer; without {'it' if len(unit_ids) == 1 else 'them'}: {_quoted(outcome)}."
        links = (Link(kind="unit", id=unit_id, name=_short(self._texts.get(unit_id, ""))) for unit_id in unit_ids)
        return self._finding("unit", outcome, 10, text, "Correct or remove this fact", *links)

    def _needed_together(self, cited: Sequence[str]) -> Finding | None:
        """Return the smallest set of units found that decides together: what takes a cited one's place is added."""
        removed = list(dict.fromkeys(cited))
        outcome = self._try(Changes(without_units=tuple(removed)))
        while not self._is_news(outcome) and len(removed) < MOST_UNITS:
            more = [unit_id for unit_id in outcome.cited_unit_ids if unit_id not in removed]
            if not more:
                return None
            removed += more
            outcome = self._try(Changes(without_units=tuple(removed)))
        if not self._is_news(outcome):
            return None
        for unit_id in list(removed):  # one that may come back is not needed
            fewer = tuple(item for item in removed if item != unit_id)
            if fewer and self._is_news(smaller := self._try(Changes(without_units=fewer))):
                removed, outcome = list(fewer), smaller
        self._texts.update(self._texts_of(removed))
        return self._unit_finding(outcome, tuple(removed))

    @cached_property
    def _selected(self) -> list[str]:
        """The units that the turn's searches selected."""
        return list(dict.fromkeys(step.unit_id for step in self._judged if step.step in ("selected", "cited")))

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The texts of units by their ids: of those that the turn cited or selected, then of others that were read."""
        return self._texts_of([*cited_unit_ids(self.recorded.turn), *self._selected])

    def _texts_of(self, unit_ids: Sequence[str]) -> dict[str, str]:
        return {row.unit_id: row.to_value().text for row in units_of(self.recorded.knowledge.chain, unit_ids)}

    def known(self) -> list[KnownStatement]:
        """Return the statements that say what was expected, those that came furthest first."""
        wanted = self.expected.should_contain
        if not wanted:
            return []
        hits = SessionKnowledge(self.recorded.knowledge).search(dict.fromkeys(unique_terms(wanted), 1.0), _KNOWN_HITS)
        units = {hit.unit.id: hit.unit for hit in hits if not hit.unit.child_unit_ids and says(hit.unit.text, wanted)}
        found = [
            KnownStatement(
                unit_id=unit.id, text=_short(unit.text), place=self._place(unit.id), rank=self._ranks.get(unit.id)
            )
            for unit in units.values()
        ]
        return sorted(found, key=lambda known: (_REACHES.index(known.place), known.rank or 0))

    @cached_property
    def _judged(self) -> list[UnitEvent]:
        return judged_units([self.recorded.turn])

    @cached_property
    def _ranks(self) -> dict[str, int]:
        """The best rank of each unit that the turn found."""
        ranks: dict[str, int] = {}
        for step in self._judged:
            if step.rank is not None:
                ranks[step.unit_id] = min(step.rank, ranks.get(step.unit_id, step.rank))
        return ranks

    def _place(self, unit_id: str) -> Reach:
        steps = {step.step for step in self._judged if step.unit_id == unit_id}
        return next((place for place in _REACHES if place in steps), "not-found")

    def _outranked(self) -> Iterator[Finding]:
        known = self.known()
        ahead = [unit_id for unit_id in self._selected if unit_id not in {each.unit_id for each in known}]
        if not known or not ahead:
            return
        outcome = self._try(Changes(without_units=tuple(ahead[:MOST_UNITS])))
        if self._is_news(outcome):
            unit = known[0]
            said, instead = f"“{unit.text}”", f"with it alone: {_quoted(outcome)}"
            cited = [rank for each in cited_unit_ids(self.recorded.turn) if (rank := self._ranks.get(each)) is not None]
            if unit.place == "not-found":
                text, advice = f"{said} was not found; {instead}.", "Look at what was searched for"
            elif unit.place == "cited":
                text, advice = f"{said} was cited, but not alone; {instead}.", "Look at what was cited beside it"
            elif unit.rank is not None and cited and unit.rank < min(cited):
                place = f"ranked {unit.rank}, before what was cited ({min(cited)})"
                text, advice = f"{said} was {place}; {instead}.", "Look at how the solver chose"
            else:
                against = counted(len(ahead), "other unit")
                text, advice = f"{said} lost against {against}; {instead}.", "Look at why it was ranked lower"
            link = Link(kind="unit", id=unit.unit_id, name=unit.text)
            yield self._finding("outranked", outcome, 20, text, advice, link)

    def _newest_revision(self) -> Iterator[Finding]:
        turn = self.recorded.turn
        base = base_of_id(turn.session.project_id, self.recorded.state.session.mounted_kb_id)
        if base is None or base.deleted_at is not None or base.head_id == self.recorded.view.layers[-1]:
            return
        outcome = self._try(Changes(base=base.kb_id))
        if self._is_news(outcome):
            text = f"“{base.name}” has a newer revision than the one that was seen; with it: {_quoted(outcome)}."
            link = Link(kind="base", id=base.kb_id, name=base.name)
            yield self._finding("old-revision", outcome, 7, text, f"Mount revision {base.revision}", link)

    def _other_bases(self) -> Iterator[Finding]:
        session = self.recorded.turn.session
        terms = unique_terms(f"{self.recorded.message} {self.expected.should_contain}")
        mounted = self.recorded.state.session.mounted_kb_id
        ranked: list[tuple[float, KnowledgeBase]] = []
        for base in other_bases(session.project_id, mounted):
            hits = SessionKnowledge(EffectiveView.of_layer(base.head)).search(dict.fromkeys(terms, 1.0), 1)
            if hits:
                ranked.append((hits[0].score, base))
        for _, base in sorted(ranked, key=lambda item: -item[0])[:MOST_BASES]:
            outcome = self._try(Changes(base=base.kb_id))
            is_answered = self.expected.should_contain or outcome.answer_status == "answered"
            if is_answered and self._is_news(outcome) and units_of(base.head.chain, outcome.cited_unit_ids):
                text = f"“{base.name}” is not mounted and answers this: {_quoted(outcome)}."
                link = Link(kind="base", id=base.kb_id, name=base.name)
                yield self._finding("missing-base", outcome, 30, text, f"Mount {base.name}", link)

    def _others(self, kind: str, used: set[str]) -> list[Descriptor]:
        descriptors = registry.installed.descriptors(kind)
        # Without a model such a plugin could only fail.
        has_model = self.recorded.conditions["models"] is not None or self.live() is not None
        return [item for item in descriptors if item.id not in used and (has_model or not item.uses_llm)]

    def _used(self, kind: str) -> set[str]:
        started = said(PluginStarted, self.recorded.events)
        return {call.plugin_id for call in started if TYPE_BY_STAGE.get(call.stage) == kind}

    def _other_plugins(self) -> Iterator[Finding]:
        for kind, (stage, noun) in _STAGES.items():
            used = self._used(kind)
            for other in self._others(kind, used):
                outcome = self._try(Changes(pins=Selection(**{stage: other.id})))
                is_known = any(finding.outcome is outcome for finding in self.findings)
                if self._is_news(outcome) and not is_known:
                    names = ", ".join(sorted(used)) or "none"
                    yield self._plugin_finding(outcome, 40, noun, names, other, "was chosen")

    def _other_levels(self) -> Iterator[Finding]:
        present = self.recorded.state.asked.deliberation_level
        for level in (number for number in range(4) if number != present):
            outcome = self._try(Changes(deliberation_level=level))
            if self._is_news(outcome):
                text = f"The deliberation level was {present}; with level {level}: {_quoted(outcome)}."
                yield self._finding("setting", outcome, 50, text, f"Ask with deliberation level {level}")
                return

    def _earlier_settings(self) -> Iterator[Finding]:
        turn = self.recorded.turn
        for row in chat_turns_before(turn, _TURNS_BACK):
            try:
                earlier = recorded_turn(row).state
            except Conflict:  # what it saw is not stored any more
                continue
            settings = _settings_instead(self.recorded.state, earlier)
            if settings == Changes():
                continue
            outcome = self._try(settings)
            if self._is_news(outcome):
                text = f"Turn {row.turn_index} was asked with {_named(settings)}; so again: {_quoted(outcome)}."
                yield self._finding("setting", outcome, 60, text, "Set this back for the session")
                return


def _settings_instead(present: ConversationState, earlier: ConversationState) -> Changes:
    """Return what has to be changed to ask with the settings of an earlier turn."""
    now, then = present.asked, earlier.asked
    flags = {name: value for name, value in structs.asdict(then.flags).items() if value != getattr(now.flags, name)}
    settings = Changes(
        flags=flags,
        model=then.model if then.model != now.model else None,
        grounding=then.grounding if then.grounding != now.grounding else None,
        system_prompt=then.system_prompt if then.system_prompt != now.system_prompt else None,
    )
    guidance, former = present.guidance, earlier.guidance
    if guidance is None or former is None:
        return settings
    return replace(
        settings,
        persona=former.persona.id if former.persona.id != guidance.persona.id else None,
        agent=former.agent.id if former.agent and former.agent != guidance.agent else None,
        style=former.style if former.style != guidance.style else None,
    )


def _named(settings: Changes) -> str:
    """Return settings in words."""
    others = ("model", "grounding", "system_prompt", "persona", "agent", "style")
    named = {**settings.flags, **{name: getattr(settings, name) for name in others}}
    return ", ".join(
        f"{name.removeprefix('enable_').replace('_', ' ')} {_in_words(value)}"
        for name, value in named.items()
        if value is not None
    )


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"“{_short(str(value))}”" if isinstance(value, str) else str(value)


class _OutOfBounds(MRPError):
    """The search may try no more."""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED_CHARS else line[: _QUOTED_CHARS - 1] + "…"


def _quoted(outcome: TrialOutcome) -> str:
    answer = _short(outcome.answer).rstrip(".")
    return f"“{answer}”" if answer else "no answer"
