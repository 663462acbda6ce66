"""Traces that are sent to a collector of the test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django import Settings

from sessions_app.interchange.exporting import TraceExport
from tests.api.conftest import (  # noqa: F401 (its fixtures)
    Caller,
    caller,
    editor,
    files,
    other_project,
    plugins,
    project,
    session_id,
    stranger,
    unlimited_chats,
)
from tests.interchange.collector import Collector


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Return a listening collector."""
    with Collector() as listening:
        yield listening


@pytest.fixture
def sending(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., TraceExport]]:
    """Return a function that starts the export like the server: `sending(url)`, `sending(url, with_content=True)`."""
    started = []

    def start(url: str, **options: Any) -> TraceExport:
        settings.MRPVM_TRACES_OUT = True
        settings.MRPVM_TRACES_CONTENT = options.get("with_content", False)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        export = TraceExport()
        started.append(export)
        return export

    yield start
    for export in started:
        export.close()
