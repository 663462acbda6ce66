"""What the conversation policies cost and save: the size of a growing context, and the time that each takes."""

import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field
from itertools import cycle, islice
from statistics import median

from bench.conversation import conversation, facts
from bench.measurements import Requests
from bench.servers import MeasuredServer

_MESSAGE_FACTS = 11
"""Facts of a generated message: about 400 characters, the 100 tokens that the budget of 800 for 8 messages gives it."""
_OFF = {"enable_query_rewriting": False, "enable_session_memory": False, "enable_history_summarization": False}
VARIANTS: Mapping[str, Mapping[str, bool]] = {
    "none of them": _OFF,
    "rewriting alone": _OFF | {"enable_query_rewriting": True},
    "memory alone": _OFF | {"enable_session_memory": True},
    "summary alone": _OFF | {"enable_history_summarization": True},
    "all of them": dict.fromkeys(_OFF, True),
}


@dataclass(frozen=True, slots=True)
class ContextSize:
    """Estimated tokens of one context: with the summary, with the plain window, and of the whole conversation."""

    summarised: int
    window: int
    whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCosts:
    """The figures of the policies."""

    sizes: Mapping[int, ContextSize] = field(default_factory=dict)
    requests: Mapping[str, Requests] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Return the lines of the report."""
        yield f"{'tokens of a context after exchanges':42}" + "".join(f"{count:>9,}" for count in self.sizes)
        for name, read in (
            ("  summary and 8 messages", lambda size: size.summarised),
            ("  the last 20 messages", lambda size: size.window),
            ("  everything that was said", lambda size: size.whole),
        ):
            yield f"{name:42}" + "".join(f"{read(size):>9,}" for size in self.sizes.values())
        yield ""
        yield f"{'a turn with the policies':42}{'p50 ms':>9}{'p95 ms':>9}{'CPU ms':>9}{'added ms':>11}{'added CPU':>11}"
        plain = next(iter(self.requests.values()))
        for name, requests in self.requests.items():
            p50, p95 = requests.percentile_ms(50), requests.percentile_ms(95)
            added = _added(requests.wall_ms, plain.wall_ms), _added(requests.cpu_ms, plain.cpu_ms)
            times = f"{p50:>9.1f}{p95:>9.1f}{median(requests.cpu_ms):>9.2f}"
            yield f"  {name:40}{times}{added[0]:>+11.1f}{added[1]:>+11.2f}"


def _added(with_it: Sequence[float], without: Sequence[float]) -> float:
    """Return the median of the differences at each message, which a busy machine disturbs least."""
    return median(one - other for one, other in zip(with_it, without, strict=True))


def policy_requests(server: MeasuredServer, rounds: int, turns: int) -> Mapping[str, Requests]:
    """Hold the same conversations under each choice of policies, alternating at each message in changing order."""
    measured = {name: Requests() for name in VARIANTS}
    with server.client() as client:
        for number in range(rounds):
            sessions = {name: client.new_session() for name in VARIANTS}
            order = deque(VARIANTS.items())
            for said in islice(conversation(2_000_000 + number), turns):
                order.rotate()
                for name, flags in order:
                    body = {"session_id": sessions[name], "messages": [{"role": "user", "content": said.message}]}
                    measured[name].send(
                        server,
                        lambda body=body | flags: client.post("/api/chat/completions", body),  # type: ignore[misc]
                    )
    return measured


def context_sizes(exchanges: Sequence[int]) -> Mapping[int, ContextSize]:
    """Return the size of the next turn's context after so many exchanges of one conversation that grows in the
    database.

    Without a model, rules write the summary. A model's summary has the same maximum length.
    """
    from mrpvm.conversation.asking import UnaskedModel
    from mrpvm.conversation.flags import Flags
    from mrpvm.conversation.preparation import PreparedTurn, prepare_turn
    from sessions_app.actions.sessions.histories import History, append_messages
    from sessions_app.actions.sessions.session import create_session
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.models import ExplainabilityTurn
    from sessions_app.turns.call import TurnCall
    from sessions_app.turns.state import read_state

    session, call, sizes, chars = create_session(ensure_default_project()), TurnCall(message="And then?"), {}, 0
    flags = Flags()
    for count, pair in enumerate(islice(_pairs(), max(exchanges)), 1):
        append_messages(session, History(messages=pair))
        session.refresh_from_db()
        chars += sum(len(item["content"]) for item in pair)

        def prepared(flags: Flags) -> PreparedTurn:
            turn = ExplainabilityTurn(session=session, turn_index=1, user_message=call.message)
            state = read_state(turn, call, flags, index_is_outdated=False)
            return prepare_turn(state, UnaskedModel())

        def tokens(flags: Flags) -> int:
            return int(prepared(flags).report.as_record()["tokens"])

        grown = prepared(flags).new_summary
        if grown is not None:
            session.summary = grown.as_record()
            session.save(update_fields=["summary"])
        if count in exchanges:
            summarised = tokens(flags)
            window = tokens(replace(flags, enable_history_summarization=False))
            sizes[count] = ContextSize(summarised, window, -(-chars // 4))
    return sizes


def _pairs() -> Iterator[list[dict[str, str]]]:
    texts = cycle([statement for statement, _, _ in islice(facts(random.Random(7)), 5_000)])
    while True:
        yield [{"role": role, "content": " ".join(islice(texts, _MESSAGE_FACTS))} for role in ("user", "assistant")]
