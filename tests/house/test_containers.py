"""The image and the Compose files name what exists; tested without Docker."""

import glob
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.urls import Resolver404, resolve

from tests.house.pages import ROOT, bare, blocks, page, rows
from tests.live import LiveServer

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COMPOSE = {name: yaml.safe_load((ROOT / name).read_text()) for name in ("compose.yaml", "deploy/compose.yaml")}
BOTH = pytest.mark.parametrize("file", COMPOSE)
PORT = 8000


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments, each on one line."""
    lines = re.sub(r"^\s*#.*\n", "", page("Dockerfile"), flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


def arguments(instruction: str) -> list[str]:
    """Return the arguments of every instruction of this name."""
    return [rest for name, rest in instructions() if name == instruction]


@cache
def patterns() -> list[tuple[re.Pattern[str], bool]]:
    """Return the patterns of .dockerignore, and whether each keeps out what it matches."""
    lines = [line for line in page(".dockerignore").splitlines() if line and not line.startswith("#")]
    return [
        (re.compile(glob.translate(line.lstrip("!"), recursive=True, include_hidden=True)), not line.startswith("!"))
        for line in lines
    ]


def is_in_context(path: str) -> bool:
    """Return whether .dockerignore lets a file into the build; the last pattern that matches it or a parent decides."""
    parts = path.split("/")
    heads = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    is_kept_out = False
    for pattern, keeps_out in patterns():
        if any(pattern.match(head) for head in heads):
            is_kept_out = keeps_out
    return not is_kept_out


def servers(file: str) -> dict[str, dict[str, Any]]:
    """Return the services of a Compose file that run the image, by name."""
    return {name: service for name, service in COMPOSE[file]["services"].items() if service["image"] == "mrpvm"}


def parse_command(words: list[str]) -> None:
    """Parse a command of the server; it must be one."""
    app = get_commands()[words[0]]
    assert isinstance(app, str)
    load_command_class(app, words[0]).create_parser("mrpvm", words[0]).parse_args(words[1:])


# --- The image -----------------------------------------------------------------------------------------


def test_the_build_gets_only_what_the_wheel_is_made_of() -> None:
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = [*wheel["packages"], *wheel["force-include"], *wheel["sbom-files"], *PROJECT["project"]["license-files"]]
    needed += [PROJECT["project"]["readme"], "pyproject.toml", "requirements"]
    command = ["git", "ls-files", *needed]
    expected = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert sorted(filter(is_in_context, tracked)) == sorted(expected)
    assert all((ROOT / name).exists() for name in needed)


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".git/config", ".venv/bin/python", "backup.zip", "deploy/.env", "deploy/secrets/secret_key",
        "mrpvm/__pycache__/settings.cpython-313.pyc", "var/db.sqlite3", "var/secret_key",
    ],
)  # fmt: skip
def test_no_data_and_no_secret_gets_into_the_build(path: str) -> None:
    assert not is_in_context(path)


def test_what_is_copied_exists() -> None:
    stages = {line.split(" AS ")[1] for line in arguments("FROM") if " AS " in line}
    for line in arguments("COPY"):
        found = re.fullmatch(r"(?:--from=(\S+) )?(.+) \S+", line)
        assert found
        if found[1]:
            assert found[1] in stages
            continue
        for source in found[2].split():
            assert is_in_context(source) or source == "."
            assert (ROOT / source).exists()


def test_the_base_is_pinned_and_small() -> None:
    version = page(".python-version").strip()
    assert {line.split()[0] for line in arguments("FROM")} == {f"python:{version}-slim-bookworm"}


def test_every_package_is_installed_by_its_hash() -> None:
    installs = [command for line in arguments("RUN") for command in re.split(r"&&|;", line) if " install " in command]
    pip = [command for command in installs if "pip " in command]
    from_wheel, *others = sorted(pip, key=lambda command: "--no-index" not in command)
    assert "--no-index" in from_wheel
    assert len(others) == 3
    for command in others:
        assert "--require-hashes" in command
        assert "--only-binary :all:" in command
        (name,) = re.findall(r"requirements/(\S+?)\.txt", command)
        assert name == "$name" or (ROOT / f"requirements/{name}.txt").exists()


def test_the_models_of_the_page_can_be_built_in() -> None:
    (models,) = re.findall(r'MODELS="([^"]+)"', page("docs/containers.md"))
    assert [line.partition("=")[0] for line in arguments("ARG")] == ["MODELS"]
    assert all((ROOT / f"requirements/{name}.txt").exists() for name in models.split())


def test_the_labels_are_those_of_the_project() -> None:
    (line,) = arguments("LABEL")
    labels = dict(word.removeprefix("org.opencontainers.image.").split("=", 1) for word in shlex.split(line))
    project = PROJECT["project"]
    assert labels == {
        "title": project["name"],
        "description": project["description"],
        "version": settings.MRPVM_VERSION,
        "licenses": project["license"],
    }
    assert project["version"] == settings.MRPVM_VERSION


def test_the_image_sets_what_the_server_reads() -> None:
    (line,) = arguments("ENV")
    variables = dict(word.split("=", 1) for word in line.split())
    assert variables.pop("PATH").startswith("/opt/mrpvm/bin:")
    assert set(variables) <= settings.ENVIRONMENT.names_read
    assert [variables["MRPVM_DATA_DIR"]] == arguments("VOLUME")
    assert arguments("EXPOSE") == [str(PORT)]


def test_the_image_runs_the_server_and_not_as_root() -> None:
    assert [json.loads(line) for line in arguments("ENTRYPOINT")] == [list(PROJECT["project"]["scripts"])]
    for line in arguments("CMD"):
        parse_command(json.loads(line))
    (user,) = arguments("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    number = user.split(":")[0]
    assert f"--uid {number} " in page("Dockerfile")
    assert f"the user {number}" in page("docs/containers.md")


def test_the_health_check_tells_a_server_from_none(live_asgi: LiveServer) -> None:
    (line,) = arguments("HEALTHCHECK")
    command = json.loads(line.split("CMD ")[1])
    assert command[0] == "python"
    address = f"127.0.0.1:{PORT}"
    assert address in command[-1]
    results = [
        subprocess.run([sys.executable, command[1], command[2].replace(address, place)], stderr=subprocess.DEVNULL)
        for place in (live_asgi.address, "127.0.0.1:1")
    ]
    assert [bool(done.returncode) for done in results] == [False, True]


# --- The Compose files ---------------------------------------------------------------------------------


@BOTH
def test_the_servers_get_variables_that_they_read(file: str) -> None:
    tools = {bare(row[1]) for row in rows(page("docs/settings.md"), "tool", "variable") if row[0] == "uvicorn"}
    assert servers(file)
    for service in servers(file).values():
        assert set(service["environment"]) - tools <= settings.ENVIRONMENT.names_read


@BOTH
def test_the_servers_start_with_these_variables(file: str, tmp_path: Path) -> None:
    """The secrets are as docs/containers.md says."""
    key = "0123456789abcdef" * 4
    secrets = {
        "secret_key": key,
        "database_url": f"postgresql://mrpvm:{key}@postgres/mrpvm",
        "api_key": f"mrp_{key}",
    }
    for name, value in secrets.items():
        (tmp_path / name).write_text(f"{value}\n")
    for service in servers(file).values():
        variables = {name: str(value) for name, value in service["environment"].items() if value is not None}
        for name, value in variables.items():
            variables[name] = re.sub(r"\$\{(\w+).*\}", "mrpvm.example", value).replace("/run/secrets", str(tmp_path))
        variables |= {"PATH": os.environ["PATH"], "MRPVM_DATA_DIR": str(tmp_path)}
        with patch.dict(os.environ, variables, clear=True):
            loaded = runpy.run_path(str(ROOT / "mrpvm/settings.py"))
        assert loaded["ENVIRONMENT_PROBLEMS"] == []
        if "SECRET_KEY_FILE" in variables:
            assert (loaded["SECRET_KEY"], loaded["MRPVM_API_KEY"]) == (key, f"mrp_{key}")
            assert loaded["DATABASES"]["default"]["HOST"] == "postgres"
            assert loaded["DATABASES"]["default"]["PASSWORD"] == key


@BOTH
def test_the_servers_run_commands_of_the_server_without_rights(file: str) -> None:
    for service in servers(file).values():
        parse_command(service.get("command", ["serve"]))
        assert service["read_only"] is True
        assert service["init"] is True
        assert service["tmpfs"] == ["/tmp"]  # noqa: S108 (a place in the container)
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        (volume,) = service["volumes"]
        assert volume.split(":") == ["data", *arguments("VOLUME")]
        assert float(service["stop_grace_period"].removesuffix("s")) * 1000 > settings.MRPVM_SHUTDOWN_GRACE_MS


@BOTH
def test_a_compose_file_declares_what_its_services_use(file: str) -> None:
    whole = COMPOSE[file]
    services = whole["services"]
    for service in services.values():
        volumes = {volume.split(":")[0] for volume in service["volumes"]} if "volumes" in service else set()
        assert {name for name in volumes if not name.startswith(".")} <= set(whole["volumes"])
        assert all((ROOT / file).parent.joinpath(name).exists() for name in volumes if name.startswith("."))
        assert set(service.get("secrets", ())) <= set(whole.get("secrets", ()))
        assert set(service.get("networks", ())) <= {"default", *whole.get("networks", ())}
        for name, needed in service.get("depends_on", {}).items():
            assert needed == {"condition": "service_healthy"}
            assert "healthcheck" in services[name] or name in servers(file)
        files = [value for name, value in service.get("environment", {}).items() if name.endswith("_FILE")]
        assert sorted(files) == [f"/run/secrets/{name}" for name in sorted(service.get("secrets", ()))]


def test_one_container_is_reached_from_its_machine_alone() -> None:
    (server,) = servers("compose.yaml").values()
    assert server["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]


def test_the_processes_of_many_people_know_of_each_other() -> None:
    services = COMPOSE["deploy/compose.yaml"]["services"]
    processes = servers("deploy/compose.yaml")
    assert sum("--no-bootstrap" in service.get("command", ()) for service in processes.values()) == len(processes) - 1
    caddy = services["caddy"]["environment"]
    assert caddy["UPSTREAMS"].split() == [f"{name}:{PORT}" for name in processes]
    assert set(caddy) == set(re.findall(r"\{\$(\w+):", page("deploy/Caddyfile")))
    for service in processes.values():
        assert service["environment"]["WEB_CONCURRENCY"] == str(len(processes))
        assert "ports" not in service, "every address is believed what it says of clients"
    connections = re.search(r"max_connections=(\d+)", services["postgres"]["command"][-1])
    assert connections
    assert int(connections[1]) > 100 * len(processes)


def test_postgresql_is_not_newer_than_its_client_in_the_image() -> None:
    (client,) = re.findall(r"postgresql-client-(\d+)", page("Dockerfile"))
    image = COMPOSE["deploy/compose.yaml"]["services"]["postgres"]["image"]
    assert image.startswith(f"postgres:{client}-")
    assert f"PostgreSQL stays at version {client}:" in page("docs/containers.md")


def test_the_secrets_of_the_page_are_those_of_the_file() -> None:
    secrets = {secret["file"] for secret in COMPOSE["deploy/compose.yaml"]["secrets"].values()}
    assert secrets == set(re.findall(r">(secrets/\w+)", page("docs/containers.md")))
    for path in [".env", "deploy/.env", *(f"deploy/{secret}" for secret in secrets)]:
        assert subprocess.run(["git", "check-ignore", "--quiet", path], cwd=ROOT).returncode == 0, path


# --- The page ------------------------------------------------------------------------------------------


def test_the_commands_of_the_page_exist() -> None:
    lines = [line.partition("#")[0] for block in blocks("docs/containers.md", "sh") for line in block.splitlines()]
    called = re.compile(r"compose (?:exec(?: -T)? (?P<running>\w+) mrpvm|run --rm (?P<other>\w+)) (?P<command>[^<>]+)")
    named = [
        (found["running"] or found["other"], shlex.split(found["command"]))
        for line in lines
        if (found := called.search(line))
    ]
    assert {words[0] for _, words in named} >= {"backup", "doctor", "restore", "user"}
    for service, words in named:
        assert service in COMPOSE["compose.yaml"]["services"]
        assert service in COMPOSE["deploy/compose.yaml"]["services"]
        parse_command(words)


def test_the_address_of_the_health_check_and_of_the_proxy_exist() -> None:
    addresses = re.findall(rf"127\.0\.0\.1:{PORT}(/\w+)", page("Dockerfile"))
    addresses += re.findall(r"health_uri (/\w+)", page("deploy/Caddyfile"))
    assert len(addresses) == 2
    for address in addresses:
        try:
            resolve(address)
        except Resolver404:
            pytest.fail(f"{address} is no page")
