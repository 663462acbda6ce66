"""The pages of the plugin catalogue and of the model for each role."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from mrpvm import registry
from mrpvm.llm.local_model import NAME
from mrpvm.llm.roles import MODEL_ROLES, ModelConfig
from sessions_app import language_model
from sessions_app.actions.settings.model_roles import set_model_roles
from sessions_app.language_model import NO_MODEL
from sessions_app.models import ModelRoles, PluginStatistics, Project
from sessions_app.queries.settings.model_roles import shared_config
from sessions_app.turns.machine import install_plugins
from tests.llm.provider import KEY, Provider
from tests.web.page_scene import (
    HOSTILE,
    attributes_of,
    check_html,
    counted_queries,
    facts_of,
    member_client,
    notice,
    parsed,
    text_at,
    texts_of,
    visible_text,
)
from tests.wrappers.programs import wrapper


@pytest.fixture
def admin(project: Project) -> Client:
    install_plugins()
    return member_client(project, name="boss")


def shown(client: Client, name: str) -> str:
    response = client.get(reverse(name))
    assert response.status_code == 200
    check_html(response.text)
    return response.text


def card(html: str, plugin_id: str) -> str:
    (found,) = parsed(html).css(f'article[id="{plugin_id}"]')
    return str(found.html)


# --- Plugins ------------------------------------------------------------------------------------------------------


def test_every_plugin_is_in_the_catalogue(admin: Client) -> None:
    html = shown(admin, "plugins")
    for descriptor in registry.installed.descriptors():
        assert text_at(card(html, descriptor.id), "p:first-child") == descriptor.description
    places = [
        visible_text(html).index(title)
        for title in ("Seed detectors", "Planners", "KB plugins", "Goal solvers", "validators")
    ]
    assert places == sorted(places)


@pytest.mark.rule("PLUGIN-31")
def test_without_a_model_the_catalogue_names_what_is_unavailable(admin: Client) -> None:
    html = shown(admin, "plugins")
    for descriptor in registry.installed.descriptors():
        assert (NO_MODEL in visible_text(card(html, descriptor.id))) is descriptor.uses_llm


def test_with_a_model_everything_is_available(provider: Provider, admin: Client) -> None:
    html = shown(admin, "plugins")
    assert NO_MODEL not in visible_text(html)
    assert "not available" not in visible_text(html)


def test_a_plugin_shows_what_was_learned_of_it_in_this_project(admin: Client, project: Project) -> None:
    numbers = {"success": 0.91, "sufficiency": 0.82, "latency_ms": 123.4, "llm_calls": 0.0}
    counts = {"attempt_count": 17, "success_count": 15, "failure_count": 1, "refusal_count": 1}
    row = PluginStatistics.objects.create(
        project=project, plugin_type="kb-plugin", plugin_id="kb-fast", **counts, **numbers
    )
    html = shown(admin, "plugins")
    assert {"17", "123 ms", f"{row.utility:.2f}"} <= set(texts_of(card(html, "kb-fast"), "dd"))
    assert "Not tried in this project yet" in text_at(card(html, "kb-balanced"), "p.small")
    stranger = member_client(Project.objects.create(name="Other"))
    assert "17" not in texts_of(shown(stranger, "plugins"), "dd")


def test_external_programs_are_shown_as_they_describe_themselves(
    admin: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = wrapper(tmp_path, description="<b>Multiplies.</b>")
    monkeypatch.setattr(registry.installed, "wrappers", [hostile])
    html = shown(admin, "plugins")
    assert "External programs" in texts_of(html, "h2")
    assert "<b>Multiplies.</b>" in texts_of(html, "[aria-labelledby=family-wrappers] p")
    assert str(tmp_path) not in html


def test_frozen_statistics_and_switched_off_plugins_are_named(admin: Client, settings: Settings) -> None:
    assert "frozen" not in visible_text(shown(admin, "plugins"))
    settings.MRPVM_LEARN = False
    settings.MRPVM_DISABLED_PLUGINS = ("kb-thinkingdb",)
    html = shown(admin, "plugins")
    assert "Statistics are frozen." in texts_of(html, ".notice strong")
    assert "kb-thinkingdb" in texts_of(html, "span")


def test_the_catalogue_costs_one_query_however_much_was_learned(admin: Client, project: Project) -> None:
    counts = []
    for kinds in (("kb-plugin",), ("gs-plugin", "sd-plugin", "val-plugin")):
        for kind in kinds:
            PluginStatistics.objects.create(
                project=project, plugin_type=kind, plugin_id="x", attempt_count=1, success_count=1, failure_count=0,
                refusal_count=0, success=1, sufficiency=1, latency_ms=1, llm_calls=0,
            )  # fmt: skip
        with counted_queries() as queries:
            shown(admin, "plugins")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5


# --- Settings -------------------------------------------------------------------------------------------------------


def fields(**changes: str) -> dict[str, str]:
    """Return the form with the shipped defaults and these changes; `__` stands for a hyphen."""
    roles = {f"role-{role}": "" for role in MODEL_ROLES}
    return {**roles, "temperature": "0.1", **{name.replace("__", "-"): value for name, value in changes.items()}}


@pytest.mark.rule("PAGE-12")
def test_the_table_is_changed_and_shown_again(admin: Client, project: Project) -> None:
    changes = fields(
        role__goal__fast="small", override__gs__llm__deep="model", model__gs__llm__deep="large",
        override__sd__llm__fast="role:seed-deep", override__gs__llm__fast="", override__sd__llm__deep="",
        temperature="",
    )  # fmt: skip
    assert notice(admin.post(reverse("settings"), changes, follow=True).text).startswith(
        "Saved. New conversations use it"
    )
    config, updated_at = shared_config(project)
    assert config["roles"]["goal-fast"] == {"model": "small"}
    assert config["pluginOverrides"] == {"gs-llm-deep": {"model": "large"}, "sd-llm-fast": {"role": "seed-deep"}}
    assert config["temperature"] is None
    assert updated_at
    html = shown(admin, "settings")
    assert parsed(html).css('[name="role-goal-fast"][value="small"]')
    assert parsed(html).css('[name="model-gs-llm-deep"][value="large"]')
    assert parsed(html).css('option[value="role:seed-deep"][selected]')


def test_sending_the_form_as_it_is_changes_nothing(admin: Client, project: Project) -> None:
    before = ModelConfig(temperature=0.7, thinking_level="high", verbosity="low").as_record()
    set_model_roles(project, before)
    html = shown(admin, "settings")
    given = {field.attributes["name"]: field.attributes["value"] for field in parsed(html).css("input.input[value]")}
    for field in parsed(html).css("select[name]"):
        chosen = field.css_first("option[selected]")
        given[field.attributes["name"]] = chosen.attributes["value"] if chosen else ""
    assert admin.post(reverse("settings"), given).status_code == 302
    assert shared_config(project)[0] == before


def test_a_page_that_was_opened_before_leaves_other_fields_alone(admin: Client, project: Project) -> None:
    opened = {f"was-{name}": text for name, text in fields().items()}
    admin.post(reverse("settings"), {**opened, **fields(role__planner="large")})
    admin.post(reverse("settings"), {**opened, **fields(role__goal__fast="small")})
    roles = shared_config(project)[0]["roles"]
    assert (roles["planner"], roles["goal-fast"]) == ({"model": "large"}, {"model": "small"})


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": "3"}, "temperature"),
        ({"thinkingLevel": "endless"}, "thinkingLevel"),
        ({"override__kb__fast": "role:none"}, "kb-fast"),
        ({"role__goal__fast": "x" * 201}, "goal-fast"),
    ],
)
def test_an_invalid_table_is_shown_again_with_the_reason(
    admin: Client, project: Project, changes: dict[str, str], named: str
) -> None:
    response = admin.post(reverse("settings"), fields(role__planner="kept", **changes))
    assert response.status_code == 400
    check_html(response.text)
    assert text_at(response.text, "[role=alert] strong") == "Not saved."
    assert named in text_at(response.text, "[role=alert]")
    assert parsed(response.text).css('[name="role-planner"][value="kept"]')
    assert not ModelRoles.objects.filter(project=project).exists()


def test_only_admins_change_the_table(project: Project) -> None:
    editor = member_client(project, "editor")
    assert "changing this takes an admin" in text_at(shown(editor, "settings"), ".form-end")
    assert editor.post(reverse("settings"), fields()).status_code == 403
    assert not parsed(shown(member_client(project), "settings")).css("main [disabled]")


def test_no_page_shows_the_key_of_the_provider(provider: Provider, admin: Client, settings: Settings) -> None:
    settings.MRPVM_LLM_BASE_URL = provider.url.replace("://", "://user:secret@")
    html = shown(admin, "settings")
    assert f"{provider.url}" in texts_of(html, "dd.mono")
    assert "set, never shown" in texts_of(html, "[aria-labelledby=endpoint-title] dd")
    assert KEY not in html
    assert "secret" not in html


def test_the_models_of_the_provider_are_suggested(provider: Provider, admin: Client) -> None:
    assert attributes_of(shown(admin, "model-names"), "[value]", "value") == ["some-model", "other", "served"]


def test_without_a_model_the_page_says_how_to_set_one(admin: Client) -> None:
    html = shown(admin, "settings")
    assert text_at(html, '[aria-label="Environment of a language model"]').startswith("MRPVM_LLM_BASE_URL=")
    assert not parsed(html).css("[data-live]")
    assert shown(admin, "model-names").strip() == ""


@pytest.mark.parametrize(("is_well", "state"), [(True, "answers"), (False, "being started again")])
def test_the_local_model_says_what_it_is_for(
    admin: Client, monkeypatch: pytest.MonkeyPatch, is_well: bool, state: str
) -> None:
    running = SimpleNamespace(url="http://127.0.0.1:1/v1", api_key="the-local-key", is_well=is_well)
    monkeypatch.setattr(language_model, "_local", running)
    html = shown(admin, "settings")
    assert f"{NAME}" in texts_of(html, "dd.mono")
    assert state in facts_of(html, "[aria-labelledby=endpoint-title] dl")["State"]
    assert "38 % right and 62 % wrong" in text_at(html, "[aria-labelledby=endpoint-title] .notice")
    assert "the-local-key" not in html


def test_a_named_endpoint_takes_the_local_model_s_place(
    provider: Provider, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = SimpleNamespace(url="http://127.0.0.1:1/v1", api_key="the-local-key", is_well=True)
    monkeypatch.setattr(language_model, "_local", running)
    html = shown(admin, "settings")
    assert provider.url in texts_of(html, "[aria-labelledby=endpoint-title] dd.mono")
    assert "small local model" not in visible_text(html)


def test_a_stored_model_s_name_is_text(admin: Client) -> None:
    changes = fields(role__planner=HOSTILE, override__gs__llm__fast="model", model__gs__llm__fast=HOSTILE)
    assert admin.post(reverse("settings"), changes).status_code == 302
    html = shown(admin, "settings")
    assert HOSTILE not in html
    assert attributes_of(html, "input.input[value]", "value").count(HOSTILE) == 2
