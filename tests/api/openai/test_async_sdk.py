"""The official SDK's asynchronous client: every method of test_sdk.py, streamed and not."""

import asyncio
from collections.abc import Awaitable, Callable

import openai
import pytest
from openai import AsyncOpenAI

from sessions_app.models import Message, Project
from tests.api.conftest import Caller
from tests.api.doubles import HeldSolver, registered
from tests.api.openai.conftest import PATIENCE_SECONDS, key_of
from tests.live import LiveServer

TOLD = {"role": "user", "content": "My dog is called Rex."}
ASKED = {"role": "user", "content": "What is my dog called?"}
Run = Callable[[Callable[[AsyncOpenAI], Awaitable[None]]], None]


@pytest.fixture
def run(project: Project, live_asgi: LiveServer, editor: Caller) -> Run:
    """Return a function that runs a coroutine with an editor's client."""

    async def talk(said: Callable[[AsyncOpenAI], Awaitable[None]]) -> None:
        async with AsyncOpenAI(
            base_url=f"{live_asgi.url}/v1", api_key=key_of(editor), max_retries=0, timeout=PATIENCE_SECONDS
        ) as sdk:
            await said(sdk)

    return lambda said: asyncio.run(talk(said))


@pytest.mark.rule("DECISION-6")
def test_chat_completions_and_models(run: Run) -> None:
    async def said(sdk: AsyncOpenAI) -> None:
        first = await sdk.chat.completions.create(model="mrpvm", messages=[TOLD])
        answer = {"role": "assistant", "content": first.choices[0].message.content}
        whole = await sdk.chat.completions.create(model="mrpvm", messages=[TOLD, answer, ASKED])
        assert "Rex" in str(whole.choices[0].message.content)
        assert whole.usage
        chunks = await sdk.chat.completions.create(model="mrpvm", messages=[TOLD], stream=True)
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in chunks])
        async with sdk.chat.completions.stream(model="mrpvm", messages=[TOLD]) as stream:
            kinds = [event.type async for event in stream]
            final = await stream.get_final_completion()
        assert kinds[-1] == "content.done"
        assert final.choices[0].message.content
        assert [model.id async for model in sdk.models.list()] == ["mrpvm"]
        assert (await sdk.models.retrieve("mrpvm")).id == "mrpvm"

    run(said)


def test_responses(run: Run) -> None:
    async def said(sdk: AsyncOpenAI) -> None:
        told = await sdk.responses.create(model="mrpvm", input="My dog is called Rex.")
        asked = await sdk.responses.create(model="mrpvm", input="What is my dog called?", previous_response_id=told.id)
        assert "Rex" in asked.output_text
        assert await sdk.responses.retrieve(asked.id) == asked
        items = [item async for item in sdk.responses.input_items.list(told.id)]
        assert [item.content[0].text for item in items] == ["My dog is called Rex."]
        async with sdk.responses.stream(model="mrpvm", input="What is my dog called?",
                                        previous_response_id=asked.id) as stream:  # fmt: skip
            numbers = [event.sequence_number async for event in stream]
            final = await stream.get_final_response()
        assert numbers == list(range(len(numbers)))
        assert "Rex" in final.output_text
        events = await sdk.responses.create(model="mrpvm", input="Hello.", stream=True)
        assert [event.type async for event in events][-1] == "response.completed"
        await sdk.responses.delete(told.id)
        with pytest.raises(openai.NotFoundError):
            await sdk.responses.retrieve(told.id)

    run(said)


def test_a_background_response_is_cancelled(run: Run) -> None:
    with registered(HeldSolver()) as solver:

        async def said(sdk: AsyncOpenAI) -> None:
            made = await sdk.responses.create(
                model="mrpvm", input="My dog is called Rex.", background=True,
                extra_body={"goal_solver_plugin": "gs-held"},
            )  # fmt: skip
            assert await asyncio.to_thread(solver.started.wait, PATIENCE_SECONDS)
            cancelled = await sdk.responses.cancel(made.id)
            assert cancelled.status == "cancelled"

        try:
            run(said)
        finally:
            solver.go_on.set()
    assert not Message.objects.exists()


def test_conversations(run: Run) -> None:
    async def said(sdk: AsyncOpenAI) -> None:
        made = await sdk.conversations.create(items=[{"type": "message", "role": "user", "content": "Good morning."}])
        assert await sdk.conversations.retrieve(made.id) == made
        assert (await sdk.conversations.update(made.id, metadata={"a": "b"})).metadata == {"a": "b"}
        (added,) = (
            await sdk.conversations.items.create(
                made.id, items=[{"type": "message", "role": "user", "content": "Well then."}]
            )
        ).data
        found = [item.content[0].text async for item in sdk.conversations.items.list(made.id, order="asc")]
        assert found == ["Good morning.", "Well then."]
        read = await sdk.conversations.items.retrieve(added.id, conversation_id=made.id)
        assert read.content[0].text == "Well then."
        await sdk.conversations.items.delete(added.id, conversation_id=made.id)
        told = await sdk.responses.create(model="mrpvm", input="My dog is called Rex.", conversation=made.id)
        assert told.conversation
        assert told.conversation.id == made.id
        assert (await sdk.conversations.delete(made.id)).deleted
        with pytest.raises(openai.NotFoundError):
            await sdk.conversations.retrieve(made.id)

    run(said)
