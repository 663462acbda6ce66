"""Model roles: the table, its validation, and the model of a call."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.errors import InvalidInput
from mrpvm.llm.roles import MODEL_ROLES, ModelConfig, Override, model_config_of, resolve_model


def resolved(config: ModelConfig, plugin_id: str = "gs-llm-fast", wish: str | None = None, **more: Any) -> str:
    return resolve_model(config, plugin_id, more.pop("role", "goal-fast"), wish, "default", **more).model


@pytest.mark.rule("BUILTIN-2", "ROLE-1", "ROLE-2")
def test_the_shipped_table() -> None:
    record = ModelConfig().as_record()
    assert tuple(record["roles"]) == MODEL_ROLES
    assert record["pluginOverrides"]["gs-llm-deep"] == {"role": "goal-deep"}
    assert resolved(ModelConfig()) == "default"


@pytest.mark.rule("SESSION-3", "ROLE-3")
def test_the_first_that_is_named_wins() -> None:
    config = ModelConfig(
        roles={"goal-fast": "of-role", "goal-deep": "of-deep", "validation": ""},
        overrides={"own": Override(model="of-plugin"), "moved": Override(role="goal-deep"), "open": Override(model="")},
    )
    assert resolved(config, "own", "wished") == "of-plugin"
    assert resolved(config, "moved", "wished") == "of-deep"
    assert resolved(config, "plain", "wished") == "of-role"
    assert resolved(config, "open", "wished") == "of-role"
    assert resolved(config, "plain", "wished", role="validation") == "wished"
    assert resolved(config, "plain", role="validation") == "default"
    assert resolved(config, "plain", role="a-role-of-nobody") == "default"


@pytest.mark.rule("DECISION-29")
def test_mrpvm_is_no_wish() -> None:
    assert resolved(ModelConfig(), wish="mrpvm") == "default"


def test_a_task_with_a_role_of_its_own_keeps_it() -> None:
    """Ingest uses the role kb-ingest for any role of the detector."""
    config = ModelConfig(roles={"kb-ingest": "reader", "seed-fast": "other"})
    found = resolve_model(config, "sd-llm-fast", "kb-ingest", None, "default", keeps_role=True)
    assert (found.model, found.role) == ("reader", "kb-ingest")


@pytest.mark.rule("ROLE-1", "ROLE-4")
def test_a_put_replaces_both_maps() -> None:
    config = model_config_of({"roles": {"goal-fast": {"model": " m "}, "my-own": {"model": "x"}}, "unknown": 1})
    assert config.roles == dict.fromkeys(MODEL_ROLES, "") | {"goal-fast": "m", "my-own": "x"}
    assert config.overrides == {}
    assert model_config_of({}).roles == dict.fromkeys(MODEL_ROLES, "")
    assert model_config_of({"pluginOverrides": {"a-b": {"role": "planner"}}}).overrides["a-b"].role == "planner"


@pytest.mark.parametrize(
    "body",
    [
        None, [], "x", 3,
        {"roles": "abc"}, {"roles": [1]}, {"roles": None}, {"roles": {"goal-fast": "m"}},
        {"roles": {"goal-fast": {"model": None}}}, {"roles": {"goal-fast": {"model": 3}}}, {"roles": {"goal-fast": {}}},
        {"roles": {"goal-fast": {"model": "x" * 201}}}, {"roles": {"goal-fast": {"model": "a\nb"}}},
        {"roles": {"__proto__": {"model": "x"}}}, {"roles": {"": {"model": "x"}}},
        {"roles": {"a" * 101: {"model": "x"}}},
        {"pluginOverrides": [1, 2]}, {"pluginOverrides": {"a": "b"}}, {"pluginOverrides": {"a": {}}},
        {"pluginOverrides": {"a": {"role": "nobody"}}}, {"pluginOverrides": {"a": {"role": "planner", "model": "x"}}},
        {"pluginOverrides": {"a": {"role": ["planner"]}}}, {"pluginOverrides": {"A": {"model": "x"}}},
        {"temperature": "hot"}, {"temperature": -1}, {"temperature": 2.1}, {"temperature": True},
        {"temperature": float("nan")},
    ],
)  # fmt: skip
def test_wrong_shapes_are_refused(body: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        model_config_of(body)
    assert refusal.value.code == "INVALID_SETTINGS"


TEXTS = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
TABLES = st.dictionaries(st.sampled_from(["goal-fast", "a-b", "model", "role"]) | TEXTS, JSON, max_size=3)


@given(st.fixed_dictionaries({}, optional={"roles": TABLES | JSON, "pluginOverrides": TABLES | JSON,
                                           "temperature": JSON}))  # fmt: skip
def test_whatever_is_sent_holds_or_is_refused_as_a_whole(body: Any) -> None:
    try:
        config = model_config_of(body)
    except InvalidInput:
        return
    assert model_config_of(config.as_record()) == config
