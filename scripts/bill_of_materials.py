"""Writes docs/bill-of-materials.cdx.json (CycloneDX) and docs/licences.md: the packages of a server.

Usage: python scripts/bill_of_materials.py FOLDER, where FOLDER holds the packages of the requirement files, installed
(make bom). Pins for other systems than this one are left out. The same pins give the same bytes.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.hash.factories import HashTypeFactory
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.utils import canonicalize_name
from pip_requirements_parser import RequirementsFile

ROOT = Path(__file__).parent.parent
REQUIREMENTS = {
    "run": ComponentScope.REQUIRED,
    "scale": ComponentScope.OPTIONAL,
    "embeddings": ComponentScope.OPTIONAL,
    "model": ComponentScope.OPTIONAL,
}
"""The files that a server is installed from; a package belongs to the first one that pins it."""


@dataclass(frozen=True)
class Pin:
    """A package of a requirement file: its name, its version, and "sha256:..." of each of its files."""

    name: str
    version: str
    hashes: tuple[str, ...]
    requirements: str


def pins() -> dict[str, Pin]:
    """Return the pinned packages by canonical name."""
    by_name: dict[str, Pin] = {}
    for requirements in REQUIREMENTS:
        listed = RequirementsFile.from_file(str(ROOT / "requirements" / f"{requirements}.txt"))
        for each in listed.requirements:
            pin = Pin(each.name, each.get_pinned_version, tuple(each.hash_options), requirements)
            by_name.setdefault(str(canonicalize_name(each.name)), pin)
    return by_name


def packages(folder: Path) -> Iterator[Component]:
    """Return a component for each pinned package that is installed in a folder."""
    installed = {canonicalize_name(package.name): package for package in distributions(path=[str(folder)])}
    for name, pin in sorted(pins().items()):
        if package := installed.get(name):
            address = PackageURL("pypi", name=name, version=pin.version)
            yield Component(
                name=package.name,
                version=pin.version,
                type=ComponentType.LIBRARY,
                scope=REQUIREMENTS[pin.requirements],
                bom_ref=str(address),
                purl=address,
                licenses=[LicenseFactory().make_from_string(licence_of(package))],
                # A package has several files; the installed one has one of these hashes.
                hashes=[HashTypeFactory().from_composite_str(each) for each in pin.hashes],
                properties=[Property(name="mrpvm:requirements", value=f"requirements/{pin.requirements}.txt")],
            )


def licence_of(package: Distribution) -> str:
    """Return the licence that a package declares: an expression, a short text, or its classifiers."""
    declared = package.metadata
    text = declared.get("License-Expression") or declared.get("License") or ""
    if text and len(text) <= 64 and "\n" not in text:
        return text
    classifiers = [each for each in declared.get_all("Classifier") or [] if each.startswith("License ::")]
    return " OR ".join(each.rpartition(" :: ")[2] for each in classifiers) or "not declared"


def vendored() -> Iterator[Component]:
    """Return a component for each front-end package, with its files in static/vendor."""
    for versions in sorted((ROOT / "static" / "vendor").glob("*/VERSIONS")):
        head, *files = versions.read_text().splitlines()
        name, version, licence = re.fullmatch(r"(\S+) (\S+) \(npm, (.+)\)", head).groups()  # type: ignore[union-attr]
        scope, _, short = name.rpartition("/")
        address = PackageURL("npm", namespace=scope or None, name=short, version=version)
        yield Component(
            name=name,
            version=version,
            type=ComponentType.LIBRARY,
            scope=ComponentScope.REQUIRED,
            bom_ref=str(address),
            purl=address,
            licenses=[LicenseFactory().make_from_string(licence)],
            components=[
                Component(
                    name=f"static/vendor/{versions.parent.name}/{file}",
                    type=ComponentType.FILE,
                    bom_ref=f"{address}#{file}",
                    hashes=[HashTypeFactory().from_composite_str(f"sha256:{digest}")],
                )
                for digest, file in (line.split() for line in files)
            ],
        )


def bill(folder: Path) -> Bom:
    """Return the bill of materials. It has no time, and its serial number is computed from its components."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    server = Component(
        name=project["name"],
        version=project["version"],
        type=ComponentType.APPLICATION,
        bom_ref=project["name"],
        licenses=[LicenseFactory().make_from_string(project["license"])],
    )
    made = Bom(components=[*packages(folder), *vendored()])
    made.metadata.component = server
    made.register_dependency(server, made.components)
    made.serial_number = uuid5(NAMESPACE_URL, " ".join(sorted(str(each.purl) for each in made.components)))
    made.metadata.timestamp = None  # type: ignore[assignment]
    return made


def licences(made: Bom) -> str:
    """Return the components as a Markdown page."""
    lines = [
        "# Licences",
        "",
        "What a server is made of besides its own code ([LICENSE](../LICENSE)), and the licence that each package",
        "declares. `make bom` writes this page and [bill-of-materials.cdx.json](bill-of-materials.cdx.json), which is",
        "CycloneDX, also holds the hashes and lies in the wheel. Packages of `run` are in every server, those of",
        "`scale` in one for several processes, `embeddings` and `model` where they were asked for, `static/vendor` in",
        "every page. Tools of developers are not listed.",
        "",
        "| package | version | licence | from |",
        "|---|---|---|---|",
    ]
    for component in sorted(made.components, key=lambda each: each.name.casefold()):
        licence = next(iter(component.licenses))
        text = getattr(licence, "value", None) or getattr(licence, "id", None) or getattr(licence, "name", "")
        place = next((each.value for each in component.properties), "static/vendor")
        place = str(place).removeprefix("requirements/").removesuffix(".txt")
        lines.append(f"| {component.name} | {component.version} | {text} | {place} |")
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    """Write both files."""
    made = bill(folder)
    text = JsonV1Dot6(made).output_as_string(indent=1)
    (ROOT / "docs" / "bill-of-materials.cdx.json").write_text(f"{text}\n")
    (ROOT / "docs" / "licences.md").write_text(licences(made))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
