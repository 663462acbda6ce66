"""The registry: built-ins and plugins of others are registered the same way."""

import re
from copy import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from mrpvm import registry
from mrpvm.contracts import Descriptor
from mrpvm.errors import RegistryError
from mrpvm.plugins.builtin import BUILTIN_PLUGINS
from mrpvm.plugins.planners.default import DefaultPlanner
from mrpvm.plugins.response_validators.constraints import ConstraintValidator
from mrpvm.registry import Registry
from mrpvm.testing import check_plugin

GUIDE = Path(__file__).parents[2] / "docs" / "plugins.md"


def planner(**fields: Any) -> DefaultPlanner:
    found = DefaultPlanner()
    found.descriptor = replace(DefaultPlanner.descriptor, **fields)
    return found


@pytest.mark.rule("PLUGIN-29")
def test_descriptors_are_sorted_by_type_then_id() -> None:
    found = Registry(reversed(BUILTIN_PLUGINS)).descriptors()
    assert found == sorted(found, key=lambda item: (item.type, item.id))
    assert len(found) == len(BUILTIN_PLUGINS)


def test_listing_one_type() -> None:
    plugins = Registry(BUILTIN_PLUGINS)
    assert [item.id for item in plugins.descriptors("gs-plugin")] == ["gs-llm-deep", "gs-llm-fast", "gs-symbolic"]
    assert plugins.descriptors("chat-plugin") == []


@pytest.mark.rule("PLUGIN-29")
def test_a_listing_is_a_copy() -> None:
    plugins = Registry(BUILTIN_PLUGINS)
    plugins.descriptors().clear()
    assert len(plugins.descriptors()) == len(BUILTIN_PLUGINS)


@pytest.mark.rule("PLUGIN-29")
@pytest.mark.parametrize("plugin", BUILTIN_PLUGINS, ids=lambda plugin: plugin.descriptor.id)
def test_get_and_has(plugin: Any) -> None:
    plugins = Registry(BUILTIN_PLUGINS)
    descriptor: Descriptor = plugin.descriptor
    assert plugins.get(descriptor.type, descriptor.id) is plugin
    assert plugins.has(descriptor.type, descriptor.id)
    assert plugins.get(descriptor.type, "nobody") is None
    assert not plugins.has("frame", descriptor.id)


@pytest.mark.rule("PLUGIN-1", "PLUGIN-30")
@pytest.mark.parametrize("field", ["id", "type", "name", "version", "description", "cost_class"])
def test_missing_fields_are_refused(field: str) -> None:
    with pytest.raises(RegistryError) as refusal:
        Registry([planner(**{field: ""})])
    assert refusal.value.code == "PLUGIN_REGISTRY_INVALID_DESCRIPTOR"
    assert field in refusal.value.message


@pytest.mark.rule("PLUGIN-30")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cost_class": "free"}, "cost_class is 'free'; it must be one of cheap, moderate, expensive."),
        ({"timeout_ms": "3000"}, "timeout_ms is a str; it must be an int."),
        ({"planner_hints": {}}, "planner_hints is a dict; it must be a PlannerHints."),
        ({"timeout_ms": 0}, "timeout_ms"),
    ],
)
def test_fields_of_other_types_are_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(RegistryError) as refusal:
        Registry([planner(**fields)])
    assert refusal.value.code == "PLUGIN_REGISTRY_INVALID_DESCRIPTOR"
    assert "planner-default" in refusal.value.message
    assert said in refusal.value.message


def test_a_plugin_without_a_descriptor_is_refused() -> None:
    with pytest.raises(RegistryError, match="descriptor"):
        Registry([object()])  # type: ignore[list-item]


def test_a_plugin_with_a_model_cannot_be_quick() -> None:
    with pytest.raises(RegistryError, match="quick"):
        Registry([planner(uses_llm=True, is_quick=True)])


@pytest.mark.rule("PLUGIN-30")
def test_unknown_types_are_refused() -> None:
    with pytest.raises(RegistryError) as refusal:
        Registry([planner(type="chat-plugin")])
    assert refusal.value.code == "PLUGIN_REGISTRY_UNSUPPORTED_TYPE"


@pytest.mark.rule("PLUGIN-1")
@pytest.mark.parametrize("plugin_id", ["Planner", "a b", "a_b", "-a", "a--b", "\u00e4"])
def test_ids_are_kebab_case(plugin_id: str) -> None:
    with pytest.raises(RegistryError):
        Registry([planner(id=plugin_id)])


@pytest.mark.rule("PLUGIN-30")
def test_a_taken_id_is_refused_and_the_first_stays() -> None:
    plugins = Registry(BUILTIN_PLUGINS)
    with pytest.raises(RegistryError):
        plugins.register(DefaultPlanner())
    assert plugins.planner("planner-default") in BUILTIN_PLUGINS


def test_one_id_may_serve_two_types() -> None:
    plugins = Registry(BUILTIN_PLUGINS)
    plugins.register(planner(id="val-constraints"))
    assert plugins.response_validator("val-constraints") is not plugins.planner("val-constraints")


@pytest.mark.rule("PLUGIN-4")
def test_the_contract_of_the_type_must_be_fulfilled() -> None:
    with pytest.raises(RegistryError):
        Registry([planner(type="val-plugin")])


@pytest.mark.rule("PLUGIN-2")
def test_hints_are_needed_where_planners_choose() -> None:
    bare = ConstraintValidator()
    bare.descriptor = replace(ConstraintValidator.descriptor, planner_hints=None)
    Registry([bare])
    solver = next(plugin for plugin in BUILTIN_PLUGINS if plugin.descriptor.type == "gs-plugin")
    hintless = type(solver)()
    hintless.descriptor = replace(solver.descriptor, planner_hints=None)
    with pytest.raises(RegistryError):
        Registry([hintless])


@pytest.mark.rule("PLUGIN-32")
def test_several_planners_and_validators_live_side_by_side() -> None:
    other = ConstraintValidator()
    other.descriptor = replace(ConstraintValidator.descriptor, id="val-other")
    plugins = Registry([*BUILTIN_PLUGINS, planner(id="planner-other"), other])
    planners = [item.id for item in plugins.descriptors("mrp-plan-plugin")]
    assert planners == ["planner-default", "planner-depth", "planner-other"]
    validators = [item.id for item in plugins.descriptors("val-plugin")]
    assert validators == ["val-constraints", "val-llm", "val-other"]


@pytest.fixture
def installed_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install two packages that offer a planner, one as a class and one as an object."""
    offered = [
        EntryPoint("b-planner", "tests_plugins_offer:b", registry.ENTRY_POINT_GROUP),
        EntryPoint("a-planner", "tests_plugins_offer:a", registry.ENTRY_POINT_GROUP),
    ]
    made = {"a-planner": lambda: planner(id="planner-a"), "b-planner": planner(id="planner-b")}
    monkeypatch.setattr(registry, "entry_points", lambda group: offered if group == registry.ENTRY_POINT_GROUP else [])
    monkeypatch.setattr(EntryPoint, "load", lambda self: made[self.name])


def test_a_class_named_by_an_entry_point_gives_its_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = GUIDE.read_text()
    example = re.search(r"```python\n(.*?)```", guide, re.DOTALL)
    offer = re.search(r"^val-brevity = \"(.*)\"$", guide, re.MULTILINE)
    assert example is not None
    assert offer is not None
    (tmp_path / "brevity.py").write_text(example[1])
    metadata = tmp_path / "brevity-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: brevity\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{registry.ENTRY_POINT_GROUP}]\nval-brevity = {offer[1]}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins = Registry()
    plugins.register_entry_points()
    found = plugins.response_validator("val-brevity")
    assert not isinstance(found, type)
    check_plugin(found)


@pytest.mark.rule("PLUGIN-31")
@pytest.mark.usefixtures("installed_packages")
def test_entry_points_come_in_through_the_same_door() -> None:
    plugins = Registry(BUILTIN_PLUGINS)
    plugins.register_entry_points()
    planners = [item.id for item in plugins.descriptors("mrp-plan-plugin")]
    assert planners == ["planner-a", "planner-b", "planner-default", "planner-depth"]


@pytest.mark.parametrize("value", ["nowhere_at_all:Plugin", "json:Nothing", "json:__doc__", "json:JSONDecoder"])
def test_an_entry_point_that_gives_no_plugin_is_named(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = EntryPoint("val-odd", value, registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [odd])
    with pytest.raises(RegistryError, match=re.escape(f"The entry point val-odd ({value}) gives no plugin: ")):
        Registry().register_entry_points()
