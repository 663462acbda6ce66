"""/metrics: the samples for Prometheus, and who may read them."""

from collections.abc import Callable, Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from sessions_app import metrics
from sessions_app.actions.experiments.forgetting.files import clear_caches
from sessions_app.background.sweeper import Sweeper
from sessions_app.background.turn_metrics import count_turns
from sessions_app.turns.pipeline import turn_ended
from tests.api.conftest import Caller


@pytest.fixture
def counting(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Switch metrics on, readable with a key."""
    settings.MRPVM_METRICS = "key"
    monkeypatch.setattr(metrics, "_meters", None)
    count_turns(lambda: Sweeper().lag_seconds)
    yield
    turn_ended.disconnect(dispatch_uid="count-turns")


def samples(caller: Caller) -> dict[tuple[str, str], float]:
    """Return the value of each sample by its name and its status or kind."""
    answer = caller.get("/metrics")
    assert answer.status_code == 200
    return {
        (sample.name, sample.labels.get("status", sample.labels.get("kind", ""))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
        if "le" not in sample.labels
    }


def test_turns_are_counted_by_how_they_ended(caller: Callable[..., Caller], counting: None) -> None:
    editor, admin = caller("editor"), caller("admin")
    session_id = editor.chat("My dog is called Rex.").json()["session_id"]
    editor.chat("What is my dog called?", session_id)
    found = samples(admin)
    assert found["mrpvm_turns_total", "succeeded"] == 2
    assert found["mrpvm_turn_seconds_count", "succeeded"] == 2
    assert found["mrpvm_turns_running", ""] == 0
    assert found["mrpvm_turns_allowed", ""] == 16
    assert 0 <= found["mrpvm_sweep_lag_seconds", ""] < 60


def test_what_was_counted_outlasts_an_act_of_forgetting(caller: Callable[..., Caller], counting: None) -> None:
    caller("editor").chat("My dog is called Rex.")
    clear_caches()
    found = samples(caller("admin"))
    assert found["mrpvm_turns_total", "succeeded"] == 1
    assert found["mrpvm_turns_allowed", ""] == 16


def test_metrics_are_for_admins_unless_they_are_open(
    caller: Callable[..., Caller], counting: None, settings: Settings
) -> None:
    assert Caller().get("/metrics").status_code == 401
    assert caller("editor").get("/metrics").status_code == 403
    settings.MRPVM_METRICS = "open"
    assert Caller().get("/metrics").status_code == 200


def test_metrics_are_off_unless_they_are_allowed(caller: Callable[..., Caller]) -> None:
    assert caller("admin").get("/metrics").status_code == 404


def test_a_scraper_reaches_a_process_by_plain_http(
    caller: Callable[..., Caller], counting: None, settings: Settings
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert samples(caller("admin"))["mrpvm_turns_allowed", ""] == 16
