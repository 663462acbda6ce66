"""Fixtures of the OpenAI tests: the official SDK as the client of a live server."""

from collections.abc import Callable, Iterator

import pytest
from openai import OpenAI

from sessions_app.models import Project
from tests.api.conftest import Caller
from tests.live import LiveServer

PATIENCE_SECONDS = 20


def key_of(caller: Caller) -> str:
    """Return a caller's API key."""
    return caller.headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def site(caller: Callable[..., Caller]) -> Caller:
    """Return a caller with a key of the role chat."""
    return caller("chat")


@pytest.fixture
def sdk(project: Project, live_asgi: LiveServer, editor: Caller) -> Iterator[OpenAI]:
    """Return the SDK with an editor's key and without retries."""
    with OpenAI(
        base_url=f"{live_asgi.url}/v1", api_key=key_of(editor), max_retries=0, timeout=PATIENCE_SECONDS
    ) as client:
        yield client


@pytest.fixture
def say(sdk: OpenAI) -> Callable[..., str]:
    """Return the answer to one more message, and append both to the conversation, a list."""

    def ask(conversation: list[dict[str, str]], text: str, **more: object) -> str:
        conversation.append({"role": "user", "content": text})
        answer = sdk.chat.completions.create(model="mrpvm", messages=conversation, **more)  # type: ignore[call-overload]
        conversation.append({"role": "assistant", "content": answer.choices[0].message.content})
        return str(answer.choices[0].message.content)

    return ask
