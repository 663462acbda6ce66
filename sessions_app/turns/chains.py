"""Which of the provider's responses a session's next request follows: state of this process alone [H6, HV22].

It is lost with the process, and that costs nothing but the provider's own cache: the conversation itself is sent
with every request.
"""

from collections import OrderedDict
from threading import Lock

from django.conf import settings

from mrpvm.llm.chain import Chain
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.turns.call import TurnCall

KEPT_COUNT = 10_000
"""The response ids of so many sessions are kept, those of the latest turns."""
CHAIN_BROKEN = "chain_broken"
"""A warning: the provider did not know the response that a request followed."""

_latest: OrderedDict[int, str] = OrderedDict()
_lock = Lock()


def chain_of(session: Session, call: TurnCall) -> Chain | None:
    """Give the turn's place in the provider's thread; None where there is none.

    A request that brings a history of its own does not follow what this session said before. Answers that are kept
    are found again by the request, which would never be the same twice.
    """
    chains = settings.MRPVM_LLM_API == "responses" and settings.MRPVM_LLM_CHAIN and not settings.MRPVM_LLM_CACHE
    if not chains or call.history is not None:
        return None
    with _lock:
        return Chain(previous_id=_latest.get(session.pk))


def keep_chain(turn: ExplainabilityTurn, chain: Chain | None) -> None:
    """Keep the response that the next turn follows; only a turn that was stored moves the thread on [HV19]."""
    if chain is None:
        return
    with _lock:
        _latest.pop(turn.session_id, None)
        if chain.next_id:
            _latest[turn.session_id] = chain.next_id
        while len(_latest) > KEPT_COUNT:
            _latest.popitem(last=False)


def report_chain(turn: ExplainabilityTurn, chain: Chain | None) -> None:
    """Add to the report of an unsaved turn that the thread broke."""
    if chain is not None and chain.is_broken and turn.context_report is not None:
        turn.context_report["warnings"].append(CHAIN_BROKEN)


def forget_chains() -> None:
    """Begin every thread anew, as a new process does."""
    with _lock:
        _latest.clear()
