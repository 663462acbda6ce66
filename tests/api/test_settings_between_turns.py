"""Settings that are changed between two turns apply only to the sessions that they are meant for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions_app.models import Session
from tests.api.conftest import Caller
from tests.assistants.skill_files import front, write_skill
from tests.llm.provider import Provider

pytestmark = pytest.mark.usefixtures("unvalidated")
MODELS = st.sampled_from(({"model": "model-a"}, {"model": "model-b"}))
TABLES = st.fixed_dictionaries(
    {},
    optional={
        "roles": st.dictionaries(st.sampled_from(("goal-fast", "seed-fast", "planner")), MODELS),
        "pluginOverrides": st.dictionaries(st.sampled_from(("gs-llm-fast", "sd-llm-fast")), MODELS),
        "temperature": st.sampled_from((0.0, 0.7, None)),
        "thinkingLevel": st.sampled_from(("low", "high")),
        "verbosity": st.sampled_from(("low", "high")),
    },
)
COMMANDS = st.sampled_from((
    "/agent reader", "/persona use coach", "/persona use own", "/style playful", "/remember Boxes are blue.",
    "/reload_skills", "/reload_persona", "/calc 6*7", "/summarise Boxes are blue.", "/new",
))  # fmt: skip
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("project"), TABLES),
        st.tuples(st.just("other"), TABLES),
        st.tuples(st.just("other"), st.just({"take_current_roles": True})),
        st.tuples(st.just("command"), COMMANDS),
        st.tuples(st.just("file"), st.sampled_from(("first", "second"))),
        st.tuples(st.just("message"), st.sampled_from(("My box is blue.", "What is in my box?"))),
    ),
    min_size=1,
    max_size=5,
)


@pytest.fixture
def admin(caller: Callable[..., Caller]) -> Caller:
    """Return a caller who may change the project's table."""
    return caller("admin")


def write(folder: Path, version: str) -> None:
    """Change a file of every kind that sessions freeze."""
    write_skill(folder / "skills", "summarise", front(body=f"Be {version}.", command="summarise"))
    (folder / "personas").mkdir(exist_ok=True)
    (folder / "personas" / "own.md").write_text(f"Be {version}.")
    (folder / "personas" / "SOUL.md").write_text(f"Be {version}.")
    (folder / "agents").mkdir(exist_ok=True)
    (folder / "agents" / "reader.agent.yaml").write_text(f"id: reader\ninstructions: Be {version}.\n")


def asked_by(caller: Caller, provider: Provider, session_id: str, message: str) -> list[dict[str, Any]]:
    """Return all model requests of a turn."""
    before = len(provider.asked)
    answer = caller.chat(message, session_id, goal_solver_plugin="gs-llm-fast", seed_detector_plugin="sd-symbolic")
    assert answer.status_code == 200, answer.content
    return [{"path": asked.path, "body": asked.body} for asked in provider.asked[before:]]


def take(step: tuple[str, Any], admin: Caller, folder: Path, other: str) -> None:
    """Change the project, the server's files or the other session."""
    kind, what = step
    if kind == "project":
        assert admin.put("/api/settings/llm-roles", what).status_code == 200
    elif kind == "other":
        assert admin.patch(f"/api/sessions/{other}/model-config", what).status_code == 200
    elif kind == "file":
        write(folder, what)
    else:
        admin.chat(what, other)


@pytest.mark.rule("DECISION-46")
@given(steps=STEPS)
@examples(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_settings_changed_elsewhere_change_no_request(
    admin: Caller, provider: Provider, files: Path, steps: list[tuple[str, Any]]
) -> None:
    """Of two equal sessions, one takes its turn before the changes and one after; both send the same requests."""
    write(files, "original")
    admin.put("/api/settings/llm-roles", {})
    undisturbed, disturbed, other = (str(admin.post("/api/sessions").json()["session_id"]) for _ in range(3))
    first, second = "My dog is called Rex.", "Tell me of my dog, please."
    assert asked_by(admin, provider, undisturbed, first) == asked_by(admin, provider, disturbed, first)
    expected = asked_by(admin, provider, undisturbed, second)
    assert expected
    for step in steps:
        take(step, admin, files, other)
    assert asked_by(admin, provider, disturbed, second) == expected


@pytest.mark.rule("DECISION-46")
def test_a_session_that_takes_the_change_sends_another_request(admin: Caller, provider: Provider, files: Path) -> None:
    """Requests do depend on the settings; otherwise the test above would prove nothing."""
    write(files, "original")
    session_id = str(admin.post("/api/sessions").json()["session_id"])
    before = asked_by(admin, provider, session_id, "My dog is called Rex.")
    table = {"roles": {"goal-fast": {"model": "model-a"}}, "temperature": 0.7}
    admin.put("/api/settings/llm-roles", table)
    write(files, "second")
    for text in ("/reload_persona", "/agent reader"):
        admin.chat(text, session_id)
    assert admin.patch(f"/api/sessions/{session_id}/model-config", {"take_current_roles": True}).status_code == 200
    after = asked_by(admin, provider, session_id, "My dog is called Rex.")
    assert after[-1]["body"]["model"] == "model-a" != before[-1]["body"]["model"]
    assert after[-1]["body"]["temperature"] == 0.7
    assert "Be second." in after[-1]["body"]["messages"][0]["content"]
    assert Session.objects.get(session_id=session_id).model_config["temperature"] == 0.7
