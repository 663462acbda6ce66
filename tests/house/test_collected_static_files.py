"""A start in production collects the static files that changed since the last one."""

from pathlib import Path

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from pytest_django import Settings

from sessions_app.management import static_files
from sessions_app.management.static_files import collect_static_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


@pytest.fixture
def source(settings: Settings, tmp_path: Path, root: Path) -> Path:
    """Return the only static file, of which the server keeps a hashed copy in `root`."""
    source = tmp_path / "sources" / "page.css"
    source.parent.mkdir()
    source.write_text("a { color: red }")
    settings.STATIC_ROOT = root
    settings.STATICFILES_DIRS, settings.STATICFILES_FINDERS = [source.parent], [settings.STATICFILES_FINDERS[0]]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "sessions_app.web.shell.static_files.OneStylesheetStorage"},
    }
    return source


@pytest.fixture
def collections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the commands that were called."""
    called: list[str] = []
    call = static_files.call_command

    def noted(name: str, **options: object) -> None:
        called.append(name)
        call(name, **options)

    monkeypatch.setattr(static_files, "call_command", noted)
    return called


def test_files_that_did_not_change_are_collected_once(source: Path, root: Path, collections: list[str]) -> None:
    for _ in range(3):
        collect_static_files(root)
    assert len(collections) == 1
    assert staticfiles_storage.stored_name("page.css") != "page.css"


@pytest.mark.parametrize("change", ["content", "new file", "lost", "version"])
def test_what_changed_is_collected_again(
    source: Path, root: Path, collections: list[str], settings: Settings, change: str
) -> None:
    collect_static_files(root)
    if change == "content":
        source.write_text("a { color: blue }")
    elif change == "new file":
        source.with_name("other.css").write_text("b { color: red }")
    elif change == "lost":
        (root / static_files.MANIFEST).unlink()
    else:
        settings.MRPVM_VERSION = "0.2.0"
    collect_static_files(root)
    assert len(collections) == 2


def test_a_start_that_was_broken_off_collects_again(
    source: Path, root: Path, collections: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    collect_static_files(root)
    source.write_text("a { color: blue }")
    with monkeypatch.context() as broken:

        def fail(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        broken.setattr(static_files, "call_command", fail)
        with pytest.raises(KeyboardInterrupt):
            collect_static_files(root)
    source.write_text("a { color: red }")
    collect_static_files(root)
    assert len(collections) == 2
