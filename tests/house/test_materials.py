"""The bill of materials and the list of licences name exactly what is pinned and vendored."""

import json
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema_rs
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

BILL = Path("docs/bill-of-materials.cdx.json")
SERVER = ("run", "scale", "embeddings", "model")
LINUX = {"sys_platform": "linux", "implementation_name": "cpython", "platform_python_implementation": "CPython"}


@cache
def components() -> dict[str, dict[str, Any]]:
    """Return the bill's components by package URL."""
    return {each["purl"]: each for each in json.loads(BILL.read_text())["components"]}


def digests(component: dict[str, Any]) -> set[str]:
    return {each["content"] for each in component["hashes"]}


def test_the_bill_of_materials_is_valid_cyclonedx() -> None:
    # The package's own validator asks jsonschema, which takes two seconds to import with all formats.
    folder = resources.files("cyclonedx.schema") / "_res"
    rules = {
        name: json.loads((folder / f"{name}.SNAPSHOT.schema.json").read_bytes())
        for name in ("bom-1.6", "jsf-0.82", "spdx")
    }
    referred = [(f"http://cyclonedx.org/schema/{name}.SNAPSHOT.schema.json", item) for name, item in rules.items()]
    registry = jsonschema_rs.Registry(referred, draft=jsonschema_rs.Draft7)
    validator = jsonschema_rs.Draft7Validator(rules["bom-1.6"], registry=registry, validate_formats=True)
    validator.validate(json.loads(BILL.read_bytes()))


def test_the_bill_holds_every_pin_with_its_hashes() -> None:
    pinned = {}
    for name in SERVER:
        for line in re.findall(r"^\w(?:.*\\\n)*.*", Path(f"requirements/{name}.txt").read_text(), re.MULTILINE):
            stated, *hashes = re.split(r"\s+\\\n +--hash=sha256:", line)
            each = Requirement(stated)
            if each.marker is None or each.marker.evaluate(LINUX):
                pinned[f"pkg:pypi/{canonicalize_name(each.name)}@{str(each.specifier)[2:]}"] = set(hashes)
    listed = {address: each for address, each in components().items() if address.startswith("pkg:pypi/")}
    assert len(pinned) > 80
    assert {address: digests(each) for address, each in listed.items()} == pinned, "make bom"


def test_the_bill_holds_every_vendored_file() -> None:
    vendored = {}
    for versions in Path("static/vendor").glob("*/VERSIONS"):
        for line in versions.read_text().splitlines()[1:]:
            digest, file = line.split()
            vendored[str(versions.parent / file)] = {digest}
    files = [file for each in components().values() for file in each.get("components", [])]
    assert vendored
    assert {file["name"]: digests(file) for file in files} == vendored, "make bom"


def test_every_licence_is_listed() -> None:
    rows = [line.split(" | ")[:3] for line in Path("docs/licences.md").read_text().splitlines() if line[:2] == "| "]
    listed = {(name.removeprefix("| "), version): licence for name, version, licence in rows[1:]}
    assert set(listed) == {(each["name"], each["version"]) for each in components().values()}, "make bom"
    assert not [name for name, licence in listed.items() if licence in ("", "not declared")]
