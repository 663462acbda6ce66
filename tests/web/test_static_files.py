"""The static files of production settings."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.management import call_command
from pytest_django import Settings

from sessions_app.web.shell.static_files import ENTRY, OneStylesheetStorage

STATIC = Path(settings.BASE_DIR) / "static"
FOREIGN = ["admin/*", "drf_spectacular_sidecar/*", "rest_framework/*"]


@pytest.fixture
def collected(settings: Settings, tmp_path: Path) -> StaticFilesStorage:
    """Return the storage after static files were collected twice, as by a restarted server."""
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": f"{OneStylesheetStorage.__module__}.{OneStylesheetStorage.__name__}"},
    }
    for _ in range(2):
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=FOREIGN)
    return OneStylesheetStorage(tmp_path)


def test_one_stylesheet_holds_every_rule_in_order(collected: OneStylesheetStorage) -> None:
    sheet = collected.path(collected.stored_name(ENTRY))
    text = Path(sheet).read_text()
    assert "@import" not in text
    sources = re.findall(r'@import url\("([^"]+)"\)', (STATIC / ENTRY).read_text())
    sheets = [(STATIC / "css" / name).read_text() for name in sources]
    places = [text.index(sheet) for sheet in sheets if "url(" not in sheet]  # addresses in `url()` get a hash
    assert len(places) >= len(sources) - 2
    assert places == sorted(places)


def test_what_the_one_stylesheet_names_is_there(collected: OneStylesheetStorage) -> None:
    sheet = Path(collected.path(collected.stored_name(ENTRY)))
    named = re.findall(r'url\("?([^")]+\.woff2)"?\)', sheet.read_text())
    assert named
    assert all((sheet.parent / name).resolve().is_file() for name in named)
    assert sheet.with_name(sheet.name + ".gz").is_file()
