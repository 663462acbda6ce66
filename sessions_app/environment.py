"""Reads the server's environment variables; a bad value becomes a `SettingProblem`, never an exception.

Each may be given by a file, as containers get their secrets: NAME_FILE names the file that holds the value of NAME.

Settings are read while Django starts, where an exception would show as a traceback. So a reader notes the
problem, continues with the default, and `sessions_app.checks` stops the start with one line for each problem.
"""

import importlib.util
import math
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url

NOT_SHOWN = "(value not shown)"
MOST_DIGITS = 18
"""Digits of a number at most, so that it fits into a database column."""
SECRET_CHARS = 50
"""Fewest characters of a signing key; Django's deployment check asks for as many."""


@dataclass(frozen=True)
class SettingProblem:
    """One variable that cannot be used: its name, its value (never a secret) and what is expected."""

    variable: str
    shown: str
    expected: str

    def __str__(self) -> str:
        """Return the line that an operator reads."""
        return f"{self.variable} is {self.shown}: expected {self.expected}."


@dataclass
class Environment:
    """Typed readers over the variables; `problems` grows in reading order, `names_read` with each reading."""

    variables: Mapping[str, str]
    problems: list[SettingProblem] = field(default_factory=list)
    names_read: set[str] = field(default_factory=set)

    def text(self, name: str) -> str:
        """Return the trimmed value or content of the file, empty when unset: an empty variable counts as unset."""
        of_file = f"{name}_FILE"
        self.names_read |= {name, of_file}
        value, path = (self.variables.get(each, "").strip() for each in (name, of_file))
        if not path:
            return value
        if value:
            self._note(SettingProblem(of_file, repr(path), f"no {name} beside it"))
            return value
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            self._note(SettingProblem(of_file, repr(path), "a text file that can be read"))
            return ""

    def refuse(self, name: str, expected: str, *, secret: bool = False) -> None:
        """Note that the variable cannot be used as it is."""
        value = self.text(name)
        shown = NOT_SHOWN if secret and value else repr(value) if value else "not set"
        self._note(SettingProblem(name, shown, expected))

    def _note(self, problem: SettingProblem) -> None:
        """Add a problem; of a variable only the first is told."""
        if all(noted.variable != problem.variable for noted in self.problems):
            self.problems.append(problem)

    def whole_number(self, name: str, default: int, *, lowest: int = 0, highest: int | None = None) -> int:
        """Return a whole number within the bounds."""
        value = self.text(name)
        if not value:
            return default
        is_number = value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS
        if is_number and lowest <= int(value) and (highest is None or int(value) <= highest):
            return int(value)
        bounds = f"from {lowest} to {highest}" if highest is not None else f"of {lowest} or more"
        self.refuse(name, f"a whole number {bounds}")
        return default

    def limit_or_none(self, name: str) -> int | None:
        """Return a limit that is off (None) unless set; 0 is off too."""
        return self.whole_number(name, 0) or None

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a switch: 1 or 0 (also true/false, yes/no, on/off)."""
        value = self.text(name).lower()
        if not value:
            return default
        if value in {"1", "true", "yes", "on"}:
            return True
        if value not in {"0", "false", "no", "off"}:
            self.refuse(name, "1 or 0")
            return default
        return False

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices; the first is the default."""
        value = self.text(name)
        if value and value not in choices:
            self.refuse(name, " or ".join(choices))
        return value if value in choices else choices[0]

    def name_list(self, name: str) -> list[str]:
        """Return the parts of a comma-separated list."""
        return [part.strip() for part in self.text(name).split(",") if part.strip()]

    def model_prices(self, name: str) -> dict[str, tuple[float, float]]:
        """Return by model what a million tokens cost, taken and written: `model=1.25/10, other=0.1/0.4`."""
        prices: dict[str, tuple[float, float]] = {}
        for part in self.name_list(name):
            model, _, price = part.rpartition("=")
            taken, _, written = price.partition("/")
            try:
                pair = float(taken), float(written)
            except ValueError:
                pair = (-1.0, -1.0)
            if not model or not all(0 <= number < math.inf for number in pair):
                self.refuse(name, "model=price/price for each model, such as small=0.1/0.4, separated by commas")
                return {}
            prices[model.strip()] = pair
        return prices

    def web_address(self, name: str) -> str:
        """Return an http(s) address, empty when unset."""
        value = self.text(name)
        if value and not _is_address(value, {"http", "https"}):
            self.refuse(name, "an address that starts with http:// or https://", secret="@" in value)
            return ""
        return value.rstrip("/")

    def origins(self, name: str) -> list[str]:
        """Return a list of web origins: scheme and host, without a path."""
        values = self.name_list(name)
        for value in values:
            if not _is_address(value, {"http", "https"}) or urlsplit(value)._replace(scheme="", netloc="").geturl():
                self.refuse(name, "origins such as https://app.example, separated by commas")
                return []
        return values

    def host_names(self, name: str) -> list[str]:
        """Return a list of host names as Django takes them: without scheme, port or path, IPv6 in brackets."""
        values = self.name_list(name)
        if not all(re.fullmatch(r"\*|\.?[\w.-]+|\[[0-9A-Fa-f:.]+\]", value) for value in values):
            self.refuse(name, "host names such as mrpvm.example, separated by commas")
            return []
        return values

    def networks(self, name: str) -> list[str]:
        """Return a list of IP addresses and networks."""
        values = self.name_list(name)
        try:
            return [str(ip_network(value)) for value in values]
        except ValueError:
            self.refuse(name, "addresses or networks such as 10.0.0.0/8, separated by commas")
            return []

    def service(self, name: str, schemes: tuple[str, ...], package: str) -> str:
        """Return the address of a Redis server, empty when unset; its driver must be installed."""
        value = self.text(name)
        if not value:
            return ""
        if not _is_address(value, set(schemes)):
            self.refuse(name, f"an address that starts with {' or '.join(f'{s}://' for s in schemes)}", secret=True)
            return ""
        return value if self._installed(name, package) else ""

    def database(self, name: str, default_path: Path) -> dict[str, Any]:
        """Return Django's description of the database; SQLite at `default_path` when unset."""
        fallback = dj_database_url.parse(f"sqlite:///{default_path}")
        value = self.text(name)
        if not value:
            return dict(fallback)
        scheme = value.split(":", 1)[0]
        try:
            known = scheme in {"sqlite", "postgres", "postgresql"}
            parsed: dict[str, Any] | None = dict(dj_database_url.parse(value)) if known else None
        except ValueError:
            parsed = None
        if parsed is None or not parsed["NAME"] or parsed["NAME"] == ":memory:":
            self.refuse(name, "sqlite:///path/to/file or postgresql://user:password@host:port/name", secret=True)
            return dict(fallback)
        if scheme != "sqlite" and not self._installed(name, "psycopg"):
            return dict(fallback)
        return parsed

    def path(self, name: str, default: Path) -> Path:
        """Return a path that need not exist."""
        return Path(self.text(name) or default).expanduser().resolve()

    def data_directory(self, name: str, default: Path) -> Path:
        """Return the directory of the server's own files; it is made, for its owner alone, if it is missing."""
        directory = Path(self.text(name) or default).expanduser().resolve()
        with suppress(OSError):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _can_be_written_to(directory):
            self.problems.append(SettingProblem(name, repr(str(directory)), "a directory that can be written to"))
        return directory

    def secret_key(self, name: str, directory: Path, *, required: bool) -> str:
        """Return the signing key: the variable, else one that is made once and kept in the data directory."""
        value = self.text(name)
        if required and len(value) < SECRET_CHARS:
            self.refuse(name, f"{SECRET_CHARS} or more random characters, the same at every start", secret=True)
        if value or required:
            return value or secrets.token_urlsafe(48)
        try:
            return _ensure_secret(directory / "secret_key")
        except (OSError, ValueError):
            if _can_be_written_to(directory):  # else it has been refused already
                expected = f"a directory whose file secret_key can be read and holds {SECRET_CHARS} or more characters"
                self.problems.append(SettingProblem("MRPVM_DATA_DIR", repr(str(directory)), expected))
            return secrets.token_urlsafe(48)

    def _installed(self, name: str, package: str) -> bool:
        if importlib.util.find_spec(package) is None:
            self.refuse(name, f"the package {package} to be installed (the extra `scale`)", secret=True)
            return False
        return True


def _is_address(value: str, schemes: set[str]) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in schemes and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _can_be_written_to(directory: Path) -> bool:
    return directory.is_dir() and os.access(directory, os.W_OK | os.X_OK)


def _ensure_secret(path: Path) -> str:
    """Return the file's secret, made on first use; two processes that start together agree on one.

    Raises:
        OSError: the file can be neither read nor made.
        ValueError: what it holds is no key.
    """
    if not path.exists():
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            os.link(draft, path)  # never replaces: the first process wins
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    secret = path.read_text(encoding="ascii").strip()
    if len(secret) < SECRET_CHARS:
        raise ValueError("too short for a key")
    return secret
