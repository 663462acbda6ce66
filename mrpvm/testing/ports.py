"""Ports in memory, and a call context made of them."""

import copy
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import replace

from mrpvm.contracts import CallContext, KnowledgePort, LanguageModel, ScoredUnit
from mrpvm.knowledge.port import places_beside
from mrpvm.knowledge.units import content_hash, unit_terms
from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.port import CallScope, OnText, Prompt, Reply
from mrpvm.values import KnowledgeUnit, SessionState, Store, Usage

_K1, _B = 1.2, 0.75


class InMemoryKnowledge:
    """A session's effective view as a list of units, searched by exact BM25."""

    def __init__(self, units: Iterable[KnowledgeUnit] = (), store: Store = "session") -> None:
        self._units: list[tuple[KnowledgeUnit, Store]] = []
        self._artifacts: dict[tuple[str, str, str], bytes] = {}
        self._plugin_id = ""
        for item in units:
            self.add(item, store)

    def add(self, item: KnowledgeUnit, store: Store = "session") -> None:
        """Add a unit to a store."""
        self._units.append((item, store))

    def search(self, terms: Mapping[str, float], limit: int) -> Sequence[ScoredUnit]:
        """Return the best evidence units by BM25 of the weighted terms; best first, ties by unit id."""
        evidence = [(item, store) for item, store in self._units if item.is_evidence]
        counts = [Counter(unit_terms(item)) for item, _ in evidence]
        lengths = [sum(count.values()) for count in counts]
        average = (sum(lengths) / len(lengths) if lengths else 0.0) or 1.0
        frequency = {term: sum(term in count for count in counts) for term in terms}
        hits = []
        for (item, store), count, length in zip(evidence, counts, lengths, strict=True):
            shares = {
                term: weight * _share(count[term], frequency[term], len(evidence), length / average)
                for term, weight in terms.items()
                if count[term]
            }
            if shares:
                hits.append(ScoredUnit(unit=item, score=sum(shares.values()), store=store, term_scores=shares))
        return sorted(hits, key=lambda hit: (-hit.score, hit.unit.id))[:limit]

    def guidance(self, limit: int) -> Sequence[ScoredUnit]:
        """Return units that instruct a phase, newest first."""
        matching = [(item, store) for item, store in reversed(self._units) if item.is_guidance]
        return [ScoredUnit(unit=item, score=0.0, store=store) for item, store in matching[:limit]]

    def newest(self, limit: int) -> Sequence[ScoredUnit]:
        """Return the evidence units, newest first."""
        matching = [(item, store) for item, store in reversed(self._units) if item.is_evidence]
        return [ScoredUnit(unit=item, score=0.0, store=store) for item, store in matching[:limit]]

    def beside(self, unit_ids: Sequence[str], reach: int) -> Sequence[ScoredUnit]:
        """Return the evidence units before and after these, the nearest first."""
        places = {item.id: place for place, (item, _) in enumerate(self._units)}
        near = places_beside([places[unit_id] for unit_id in unit_ids if unit_id in places], reach)
        rows = [self._units[place] for place in near if 0 <= place < len(self._units)]
        return [ScoredUnit(unit=item, score=0.0, store=store) for item, store in rows if item.is_evidence]

    def for_plugin(self, plugin_id: str) -> "InMemoryKnowledge":
        """Return the same units with one plugin's artifacts."""
        bound = copy.copy(self)
        bound._plugin_id = plugin_id
        return bound

    def artifacts(self, version: str, unit_ids: Sequence[str]) -> Mapping[str, bytes]:
        """Return what the plugin kept for these units."""
        kept = {name: self._artifacts.get((self._plugin_id, version, name)) for name in unit_ids}
        return {name: content for name, content in kept.items() if content is not None}

    def keep_artifacts(self, version: str, contents: Mapping[str, bytes]) -> None:
        """Keep them for as long as these units are kept."""
        self._artifacts.update({(self._plugin_id, version, name): content for name, content in contents.items()})

    def source_artifacts(self, source_id: str) -> Mapping[str, bytes]:
        """Return none: these units were made without a source."""
        return {}


def _share(count: int, holder_count: int, unit_count: int, relative_length: float) -> float:
    idf = math.log((unit_count - holder_count + 0.5) / (holder_count + 0.5) + 1)
    return idf * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * relative_length))


class NoModel(AbsentModel):
    """A language model that is not configured."""


class ScriptedModel:
    """A language model that says what a test wrote, for a turn or for one call; keeps what it was asked.

    Args:
        replies: texts, exceptions to raise, or functions of the prompt that give one; the last one stays in force.
        piece_chars: characters in each piece of a streamed reply.
    """

    available = True

    def __init__(self, *replies: str | Exception | Callable[[Prompt], str], piece_chars: int = 7) -> None:
        self._replies = deque(replies)
        self._piece_chars = piece_chars
        self._scope: CallScope | None = None
        self.prompts: list[Prompt] = []

    def bind(self, scope: CallScope) -> "ScriptedModel":
        """Return the same script for one plugin call, counted there."""
        bound = copy.copy(self)
        bound._scope = scope
        return bound

    def call(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Return the next reply."""
        self.prompts.append(prompt)
        if self._scope is not None:
            self._scope.recorder.call_began("scripted", prompt.role, ())
        reply = self._replies.popleft() if len(self._replies) > 1 else self._replies[0]
        text = reply(prompt) if callable(reply) else reply
        if isinstance(text, Exception):
            raise text
        for start in range(0, len(text) if on_text else 0, self._piece_chars):
            if on_text is not None:
                on_text(text[start : start + self._piece_chars])
        usage = Usage(input_tokens=1, output_tokens=1)
        return Reply(text=text, model="scripted", role=prompt.role, finish_reason="stop", usage=usage)


def unit(unit_id: str, text: str, **fields: object) -> KnowledgeUnit:
    """Return an atomic unit that states `text`, with its hash; `fields` replace the defaults."""
    role = str(fields.pop("role", "Description"))
    content = {"procedure": text} if role == "Procedure" else {"claim": text}
    plain = KnowledgeUnit(id=unit_id, role=role, topic=str(fields.pop("topic", text.rstrip(".")[:60])), **content)  # type: ignore[arg-type]
    built = replace(plain, **fields)  # type: ignore[arg-type]
    return replace(built, hash=content_hash(built))


def call_context(
    knowledge: KnowledgePort | None = None, *, request_id: str = "req-test", model: LanguageModel | None = None
) -> CallContext:
    """Return a call context with ample budget over a view in memory."""
    session = SessionState(
        session_id="sess-test",
        mounted_kb_id="kb-test",
        mounted_kb_name="Test",
        message_count=0,
        session_context_unit_count=0,
        deliberation_level=0,
    )
    return CallContext(
        request_id=request_id,
        session=session,
        frame_id="frame-0",
        frame_depth=0,
        remaining_ms=30_000,
        remaining_llm_calls=5,
        knowledge=knowledge or InMemoryKnowledge(),
        model=model or NoModel(),
        stopped=lambda: False,
    )
