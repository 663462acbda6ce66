"""Validation of wrapper manifests."""

import json
from pathlib import Path
from typing import Any

import pytest

from mrpvm.wrappers.manifest import InvalidManifest, WrapperManifest, admit_wrappers, read_manifest
from tests.wrappers.programs import write_wrapper


@pytest.mark.rule("PLUGIN-34")
def test_a_manifest_with_its_defaults(tmp_path: Path) -> None:
    directory = write_wrapper(tmp_path)
    assert read_manifest(directory) == WrapperManifest(
        id="calculator", name="Calculator", command=str(directory / "program"), keywords=("product",)
    )


@pytest.mark.rule("PLUGIN-34")
def test_a_manifest_with_everything(tmp_path: Path) -> None:
    fields = {
        "id": None, "name": "legacy", "type": "gs-plugin", "version": "2.1.0", "description": "Multiplies.",
        "capabilities": ["verify"], "command": "cat", "args": ["-"], "timeout": 5, "priority": -3, "exclusive": True,
        "maxInputSizeBytes": 7,
    }  # fmt: skip
    found = read_manifest(write_wrapper(tmp_path, **fields))
    assert (found.id, found.name, found.version, found.description) == ("legacy", "legacy", "2.1.0", "Multiplies.")
    assert (found.capabilities, found.args) == (("verify",), ("-",))
    assert (found.timeout_ms, found.priority, found.exclusive, found.max_input_bytes) == (5, -3, True, 7)
    assert found.command.endswith("/cat")


@pytest.mark.rule("PLUGIN-34")
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"protocolVersion": 2}, "protocolVersion"),
        ({"protocolVersion": None}, "protocolVersion"),
        ({"id": "Not Kebab"}, "kebab-case"),
        ({"id": "", "name": ""}, "kebab-case"),
        ({"type": "helper"}, "type"),
        ({"command": ""}, "command is missing"),
        ({"command": "/bin/cat"}, "relative"),
        ({"command": "../other/program"}, "relative"),
        ({"command": "bin/../../x"}, "relative"),
        ({"command": "sub/none"}, "no program"),
        ({"command": "no-such-program-anywhere"}, "no program"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"priority": "high"}, "priority"),
        ({"exclusive": 1}, "exclusive"),
        ({"keywords": "product"}, "keywords"),
        ({"args": [1]}, "args"),
        ({"description": 5}, "description"),
    ],
)
def test_what_is_not_acceptable(tmp_path: Path, fields: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidManifest, match=why):
        read_manifest(write_wrapper(tmp_path, **fields))


@pytest.mark.parametrize("text", ["", "[]", "{", "\ud800".encode("utf-8", "surrogatepass"), "[" * 100_000])
def test_what_is_no_manifest_at_all(tmp_path: Path, text: str | bytes) -> None:
    directory = write_wrapper(tmp_path)
    (directory / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidManifest):
        read_manifest(directory)


@pytest.mark.rule("PLUGIN-35")
def test_only_what_is_allowed_is_admitted_and_the_rest_is_told(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        write_wrapper(tmp_path, called=name)
    (tmp_path / "third" / "manifest.json").write_text("{")
    (write_wrapper(tmp_path, called="twin") / "manifest.json").write_text(
        json.dumps({"id": "first", "protocolVersion": 1, "command": "program"})
    )
    found = admit_wrappers(tmp_path, ["first", "Third", "fourth"])
    assert [manifest.id for manifest, _ in found.admitted] == ["first"]
    problems = "\n".join(found.problems)
    for told in ("'second' is skipped", "'third' is skipped", "'twin' is skipped", "names 'Third'", "names 'fourth'"):
        assert told in problems
    assert len(found.problems) == 5
    by_name = admit_wrappers(tmp_path, ["Second"])
    assert [manifest.id for manifest, _ in by_name.admitted] == ["second"]


@pytest.mark.rule("PLUGIN-35", "PLUGIN-41")
def test_without_an_allowlist_nothing_is_admitted(tmp_path: Path) -> None:
    write_wrapper(tmp_path)
    found = admit_wrappers(tmp_path, [])
    assert found.admitted == ()
    assert found.problems == ("The wrapper 'calculator' is skipped: it is not named in MRPVM_WRAPPERS.",)
    assert admit_wrappers(tmp_path / "none", []).problems == ()
