"""Tokens as OpenAI's clients count them: the provider's own numbers, else estimates."""

from collections.abc import Sequence

from mrpvm.llm.recorder import estimated_tokens
from mrpvm.trace.events import Event
from sessions_app.api.openai.objects import ResponseUsage
from sessions_app.api.turns.completion import usage_of
from sessions_app.api.turns.responses import UsageObject


def usage_of_turn(events: Sequence[Event], message: str, answer: str) -> UsageObject:
    """Return the tokens of a turn's model calls; of a turn without any, those of what was said, estimated."""
    usage = usage_of(events)
    if usage["total_tokens"]:
        return usage
    prompt, completion = estimated_tokens(len(message)), estimated_tokens(len(answer))
    return {
        "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
        "estimated": True,
    }  # fmt: skip


def response_usage(usage: UsageObject) -> ResponseUsage:
    counted: ResponseUsage = {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage["total_tokens"],
    }
    if usage.get("estimated"):
        counted["estimated"] = True
    return counted
