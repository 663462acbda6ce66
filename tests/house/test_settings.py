"""Environment variables: the default of each, and one clear line for each invalid value."""

import logging
import os
import runpy
import stat
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.apps import apps
from django.core import checks
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from mrpvm import registry
from mrpvm.llm import redaction
from mrpvm.llm.redaction import REDACTED
from sessions_app.checks import check_names, check_processes, check_wrappers
from sessions_app.environment import Environment
from sessions_app.logs import PlainFormatter
from sessions_app.turns.machine import install_plugins

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = {
    "MRPVM_ENV": "production",
    "SECRET_KEY": "k" * 30 + "0123456789abcdefghijklmnopq",
    "ALLOWED_HOSTS": "mrpvm.example",
}


def loaded(data: Path, **variables: str) -> dict[str, Any]:
    """Return the settings module of a process that has only the given variables."""
    environment = {"PATH": os.environ["PATH"], "MRPVM_DATA_DIR": str(data)}
    with patch.dict(os.environ, environment | variables, clear=True):
        return runpy.run_path(str(ROOT / "mrpvm/settings.py"))


def problems(data: Path, **variables: str) -> list[str]:
    """Return the recorded problems of the variables."""
    return [str(problem) for problem in loaded(data, **variables)["ENVIRONMENT_PROBLEMS"]]


@pytest.mark.rule("DECISION-25", "API-7")
def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    names = loaded(tmp_path)
    assert names["ENVIRONMENT_PROBLEMS"] == []
    assert (names["HOST"], names["PORT"], names["DEBUG"]) == ("127.0.0.1", 8000, False)
    assert names["DATABASES"]["default"]["NAME"] == str(tmp_path / "db.sqlite3")
    assert names["CHANNEL_LAYERS"]["default"]["BACKEND"].endswith("InMemoryChannelLayer")


def test_a_variable_that_is_no_setting_is_a_warning(settings: Settings) -> None:
    named = {"MRPVM_KEEP_AUDIT_DAY": "30", "MRPVM_DATADIR": "/srv", "MRPVM_WHATEVER": "1", "MRPVM_DEMO": "0"}
    settings.ENVIRONMENT = Environment(named)
    for name in ("MRPVM_KEEP_AUDIT_DAYS", "MRPVM_DATA_DIR", "MRPVM_DEMO"):
        settings.ENVIRONMENT.text(name)
    assert [warning.msg for warning in check_names(None)] == [
        "MRPVM_DATADIR is no setting; MRPVM_DATA_DIR is one.",
        "MRPVM_KEEP_AUDIT_DAY is no setting; MRPVM_KEEP_AUDIT_DAYS is one.",
        "MRPVM_WHATEVER is no setting.",
    ]


def test_a_setting_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{PRODUCTION['SECRET_KEY']}\n")
    given = {"SECRET_KEY": "", "SECRET_KEY_FILE": str(tmp_path / "key")}
    names = loaded(tmp_path / "data", **PRODUCTION | given)
    assert names["SECRET_KEY"] == PRODUCTION["SECRET_KEY"]
    assert names["ENVIRONMENT_PROBLEMS"] == []
    assert "SECRET_KEY_FILE" in names["ENVIRONMENT"].names_read


def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(b"\xff")
    for path in (tmp_path / "absent", tmp_path, bad):
        assert problems(tmp_path, DATABASE_URL_FILE=str(path)) == [
            f"DATABASE_URL_FILE is '{path}': expected a text file that can be read."
        ]
    (line,) = problems(tmp_path, **PRODUCTION, SECRET_KEY_FILE=str(bad))
    assert line == f"SECRET_KEY_FILE is '{bad}': expected no SECRET_KEY beside it."


def test_a_secret_in_a_file_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "address").write_text("mysql://me:hunter2@host/db")
    (line,) = problems(tmp_path, DATABASE_URL_FILE=str(tmp_path / "address"))
    assert line.startswith("DATABASE_URL is (value not shown): expected sqlite:")


@pytest.mark.rule("DECISION-3", "DECISION-4", "DECISION-5", "DECISION-15", "DECISION-22", "DECISION-33")
def test_limits_are_as_they_were_decided(tmp_path: Path) -> None:
    """No limit is off."""
    names = loaded(tmp_path)
    assert {name: names[name] for name in DECIDED} == DECIDED


DECIDED = {
    "MRPVM_MAX_SESSIONS": None,
    "MRPVM_SESSION_IDLE_TTL_MINUTES": None,
    "MRPVM_MAX_SESSION_UNITS": 10_000,
    "MRPVM_MAX_EXPLAINABILITY_ENTRIES": 1_000,
    "MRPVM_MAX_HISTORY_CHARS": 16_000,
    "MRPVM_MAX_WAIT_MS": 60_000,
    "MRPVM_SHUTDOWN_GRACE_MS": 1_500,
    "MRPVM_HEARTBEAT_MS": 10_000,
    "MRPVM_SEARCHED_ROWS": 5_000,
    "MRPVM_READ_APART_BYTES": 32 * 1024,
    "MRPVM_UNITS_AT_ONCE": 200,
    "MRPVM_UNITS_A_TRANSACTION": 50,
    "MRPVM_TRACE_FLUSH_MS": 100,
    "MRPVM_INLINE_DETAIL_BYTES": 64 * 1024,
    "MRPVM_MAX_DETAIL_BYTES": 8 * 1024 * 1024,
    "MRPVM_LOGINS_PER_MINUTE": 10,
    "MRPVM_CHATS_PER_MINUTE": 600,
    "MRPVM_MAX_BODY_BYTES": 2 * 1024 * 1024,
    "MRPVM_CLIENT_TIMEOUT_MS": 60_000,
    "MRPVM_MAX_UPLOAD_BYTES": 20 * 1024 * 1024,
    "MRPVM_MAX_BASE_UNITS": 2_000_000,
    "MRPVM_MAX_SOURCE_UNITS": 20_000,
    "MRPVM_MAX_SOURCE_CHUNKS": 5_000,
}


@pytest.mark.parametrize(
    ("variable", "value", "shown", "expected"),
    [
        ("PORT", "abc", "'abc'", "a whole number from 0 to 65535"),
        ("PORT", "65536", "'65536'", "a whole number from 0 to 65535"),
        ("PORT", "-1", "'-1'", "a whole number from 0 to 65535"),
        ("PORT", "٣", "'٣'", "a whole number"),
        ("PORT", "9" * 5_000, "'999", "a whole number"),
        ("MRPVM_ENV", "prod", "'prod'", "development or production"),
        ("MRPVM_DEMO", "maybe", "'maybe'", "1 or 0"),
        ("MRPVM_MAX_MESSAGE_CHARS", "0", "'0'", "a whole number of 1 or more"),
        ("DATABASE_URL", "mysql://me:hunter2@host/db", "(value not shown)", "postgresql://"),
        ("DATABASE_URL", "postgresql://me:hunter2@host:port/db", "(value not shown)", "postgresql://"),
        ("DATABASE_URL", "sqlite://:memory:", "(value not shown)", "sqlite:///path/to/file"),
        ("REDIS_URL", "localhost:hunter2", "(value not shown)", "redis://"),
        ("MRPVM_API_KEY", "hunter2", "(value not shown)", "mrp_ and 32 or more characters"),
        ("MRPVM_API_KEY", "mrp_hunter2 " + "é" * 32, "(value not shown)", "mrp_ and 32 or more characters"),
        ("ALLOWED_HOSTS", "https://mrpvm.example", "'https://mrpvm.example'", "host names"),
        ("ALLOWED_HOSTS", "a.example,mrpvm.example:8000", "'a.example,mrpvm.example:8000'", "host names"),
        ("CORS_ALLOWED_ORIGINS", "https://app.example/path", "'https://app.example/path'", "origins"),
        ("MRPVM_LLM_BASE_URL", "localhost:11434", "'localhost:11434'", "http://"),
        ("MRPVM_LLM_API", "grpc", "'grpc'", "chat or responses"),
    ],
)
def test_a_bad_value_is_one_line_with_what_is_expected(
    tmp_path: Path, variable: str, value: str, shown: str, expected: str
) -> None:
    lines = problems(tmp_path, **{variable: value})
    assert len(lines) == 1
    assert lines[0].startswith(f"{variable} is {shown}")
    assert ": expected " in lines[0]
    assert expected in lines[0]
    assert "hunter2" not in lines[0]


def test_several_bad_values_are_reported_together(tmp_path: Path) -> None:
    lines = problems(tmp_path, PORT="x", MRPVM_DEMO="y")
    assert [line.split()[0] for line in lines] == ["PORT", "MRPVM_DEMO"]


def test_a_data_directory_that_cannot_be_made(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    assert problems(tmp_path, MRPVM_DATA_DIR=str(blocked / "data")) == [
        f"MRPVM_DATA_DIR is {str(blocked / 'data')!r}: expected a directory that can be written to."
    ]


@pytest.mark.parametrize("content", ["", "short", None], ids=["empty", "short", "a directory"])
def test_a_kept_key_that_is_none_is_not_replaced_silently(tmp_path: Path, content: str | None) -> None:
    kept = tmp_path / "secret_key"
    kept.mkdir() if content is None else kept.write_text(content)
    (line,) = problems(tmp_path)
    assert line.startswith(f"MRPVM_DATA_DIR is {str(tmp_path)!r}: expected a directory whose file secret_key ")


def test_host_names_as_django_takes_them(tmp_path: Path) -> None:
    names = loaded(tmp_path, ALLOWED_HOSTS="mrpvm.example, .sub.example,[::1],*")
    assert names["ENVIRONMENT_PROBLEMS"] == []
    assert {"mrpvm.example", ".sub.example", "[::1]", "*"} <= set(names["ALLOWED_HOSTS"])


def test_a_plugin_that_cannot_be_left_out_is_a_problem(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = Environment({"MRPVM_DISABLED_PLUGINS": "val-llm,val-lmm"})
    settings.ENVIRONMENT, settings.MRPVM_DISABLED_PLUGINS = environment, ["val-llm", "val-lmm"]
    monkeypatch.setattr(registry, "installed", registry.Registry())
    install_plugins()
    assert [problem.variable for problem in environment.problems] == ["MRPVM_DISABLED_PLUGINS"]
    assert not any(item.id == "val-llm" for item in registry.installed.descriptors())


@pytest.mark.rule("DECISION-26")
def test_production_needs_a_secret_key_and_host_names(tmp_path: Path) -> None:
    lines = problems(tmp_path, MRPVM_ENV="production")
    assert [line.split(":")[0] for line in lines] == ["SECRET_KEY is not set", "ALLOWED_HOSTS is not set"]
    (refused,) = problems(tmp_path, **PRODUCTION | {"ALLOWED_HOSTS": "https://mrpvm.example"})
    assert "host names" in refused
    assert problems(tmp_path, **PRODUCTION) == []
    assert not (tmp_path / "secret_key").exists()


@pytest.mark.rule("DECISION-26")
def test_production_turns_on_what_needs_https(tmp_path: Path) -> None:
    names = ["SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS"]
    plain, production = loaded(tmp_path), loaded(tmp_path, **PRODUCTION)
    assert [plain[name] for name in names] == [False, False, False, 0]
    assert [production[name] for name in names] == [True, True, True, 31_536_000]


def test_the_generated_secret_key_is_kept_and_private(tmp_path: Path) -> None:
    first = loaded(tmp_path)["SECRET_KEY"]
    assert len(first) >= 50
    assert loaded(tmp_path)["SECRET_KEY"] == first
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_redis_and_postgresql_are_taken_from_their_addresses(tmp_path: Path) -> None:
    redis = loaded(tmp_path, REDIS_URL="redis://:secret@127.0.0.1:6390/1")
    assert redis["CHANNEL_LAYERS"]["default"]["BACKEND"].endswith("RedisPubSubChannelLayer")
    assert redis["CACHES"]["default"]["BACKEND"].endswith("RedisCache")
    database = loaded(tmp_path, DATABASE_URL="postgresql://me:secret@127.0.0.1:5433/mrpvm")["DATABASES"]["default"]
    assert (database["ENGINE"], database["CONN_HEALTH_CHECKS"]) == ("django.db.backends.postgresql", True)
    options = database["OPTIONS"]
    assert (options["connect_timeout"], options["options"]) == (10, "-c lock_timeout=20s")
    assert options["tcp_user_timeout"] == 10_000
    address = "postgresql://me:secret@127.0.0.1:5433/mrpvm?options=-c%20lock_timeout%3D5s&connect_timeout=3"
    own = loaded(tmp_path, DATABASE_URL=address)["DATABASES"]["default"]["OPTIONS"]
    assert (int(own["connect_timeout"]), own["options"]) == (3, "-c lock_timeout=5s")


@pytest.mark.rule("DECISION-20")
def test_sqlite_waits_for_writers_and_survives_power_loss(tmp_path: Path) -> None:
    options = loaded(tmp_path)["DATABASES"]["default"]["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in options["init_command"]
    assert "synchronous=FULL" in options["init_command"]


def test_several_workers_need_redis(settings: Settings) -> None:
    settings.MRPVM_WORKER_COUNT, settings.ENVIRONMENT = 2, Environment({})
    assert [error.msg for error in check_processes(None)] == [
        "WEB_CONCURRENCY is 2: several processes need REDIS_URL to share events."
    ]
    settings.ENVIRONMENT = Environment({"REDIS_URL": "redis://127.0.0.1:6390"})
    assert check_processes(None) == []
    settings.ENVIRONMENT, settings.REDIS_URL = Environment({"REDIS_URL": "127.0.0.1:6390"}), ""
    assert check_processes(None) == []  # an address that cannot be used is a problem of its own


@pytest.mark.rule("DECISION-25", "API-7")
def test_cors_is_off_unless_origins_are_set(tmp_path: Path) -> None:
    assert "corsheaders" not in str(loaded(tmp_path)["MIDDLEWARE"])
    assert "corsheaders" in str(loaded(tmp_path, CORS_ALLOWED_ORIGINS="https://app.example")["MIDDLEWARE"])


SDK_HEADERS = {
    "openai-beta", "openai-organization", "openai-project", "x-stainless-arch", "x-stainless-helper-method",
    "x-stainless-lang", "x-stainless-os", "x-stainless-package-version", "x-stainless-retry-count",
    "x-stainless-runtime", "x-stainless-runtime-version", "x-stainless-timeout",
}  # fmt: skip
"""What OpenAI's SDK for JavaScript adds to its requests in a browser too."""


@pytest.mark.rule("API-7")
def test_scripts_of_an_allowed_origin_use_all_headers(settings: Settings, client: Client) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example"]
    settings.MIDDLEWARE = ["corsheaders.middleware.CorsMiddleware", *settings.MIDDLEWARE]
    origin, ask = {"Origin": "https://app.example"}, {"Access-Control-Request-Method": "POST"}
    before = client.options("/api/health", headers={**origin, **ask})
    allowed = set(before.headers["Access-Control-Allow-Headers"].split(", "))
    assert {"authorization", "idempotency-key", "if-none-match", "traceparent", "x-request-id"} <= allowed
    assert allowed >= SDK_HEADERS  # a browser sends nothing if one of them is missing
    answer = client.get("/api/health", headers=origin)
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"
    readable = set(answer.headers["Access-Control-Expose-Headers"].split(", "))
    assert {"etag", "idempotency-replayed", "link", "retry-after", "x-request-id", "x-total-count"} <= readable
    stranger = client.get("/api/health", headers={"Origin": "https://evil.example"})
    assert "Access-Control-Allow-Origin" not in stranger.headers


@pytest.mark.rule("DECISION-27")
def test_the_policy_allows_nothing_inline_and_nothing_foreign(tmp_path: Path) -> None:
    policy = str(loaded(tmp_path)["SECURE_CSP"])
    assert "unsafe" not in policy
    assert "*" not in policy


@given(st.text())
def test_a_number_is_either_taken_or_refused(value: str) -> None:
    environment = Environment({"LIMIT": value})
    number = environment.whole_number("LIMIT", 7, lowest=1, highest=9)
    assert 1 <= number <= 9
    assert len(environment.problems) == int(value.strip() not in {"", *map(str, range(1, 10))} and number == 7)


@given(st.dictionaries(st.sampled_from(["DATABASE_URL", "REDIS_URL", "LLM", "ORIGINS", "HOSTS"]), st.text()))
def test_no_value_makes_a_reader_fail(variables: dict[str, str]) -> None:
    environment = Environment(variables)
    environment.database("DATABASE_URL", Path("db.sqlite3"))
    environment.service("REDIS_URL", ("redis",), "json")
    environment.web_address("LLM")
    environment.origins("ORIGINS")
    environment.host_names("HOSTS")
    assert {problem.variable for problem in environment.problems} <= set(variables)


def formatted(line: str) -> str:
    """Return a message as it is written to the log."""
    return PlainFormatter("{message}", style="{").format(logging.makeLogRecord({"msg": line}))


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("key mrp_abcdefgh12345678 was refused", "abcdefgh12345678"),
        ("key sk-proj-abcdefgh12345678 was refused", "abcdefgh12345678"),
        ("Authorization: Bearer abc.def.ghi", "abc.def.ghi"),
        ("GET /login?next=/&token=abcdef HTTP/1.1", "abcdef"),
        ("cannot reach postgresql://me:hunter2@db:5432/x", "hunter2"),
        ("cannot reach redis://:hunter2@db:6379/0", "hunter2"),
        ("Internal Server Error: /login/link/abc-DEF_123", "abc-DEF_123"),
        ("the token eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM is refused", "eyJhbGciOi"),
        ("cannot reach https://x-1.supabase.co/rest/v1", "x-1"),
    ],
)
def test_a_log_line_holds_no_secret(line: str, secret: str) -> None:
    written = formatted(line)
    assert secret not in written
    assert REDACTED in written


def test_a_log_line_without_secrets_is_unchanged() -> None:
    line = "session sess-abc: turn 3 succeeded in 12 ms at http://127.0.0.1:8000/sessions"
    assert formatted(line) == line


def test_configured_secrets_are_redacted(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are redacted by value, since keys of providers and passwords may have any form."""
    monkeypatch.setattr(redaction, "_named", [])
    settings.SECRET_KEY, settings.MRPVM_API_KEY = "signing=with=this", "mrp_with/signs/in/it"
    settings.MRPVM_LLM_API_KEY = "gsk_0123456789"
    monkeypatch.setitem(settings.DATABASES["default"], "PASSWORD", "behind the rows")
    settings.REDIS_URL = "redis://:behind%20events@127.0.0.1/0"
    line = "signing=with=this mrp_with/signs/in/it gsk_0123456789 behind the rows behind events behind%20events"
    assert "behind events" in formatted(line)
    apps.get_app_config("sessions_app").ready()
    assert formatted(line) == " ".join([REDACTED] * 6)


def test_external_programs_that_are_skipped_are_warnings(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "manifest.json").write_text("{")
    settings.MRPVM_WRAPPERS_DIR, settings.MRPVM_WRAPPERS = tmp_path, ["calculator"]
    found = check_wrappers(None)
    assert [type(message) for message in found] == [checks.Warning, checks.Warning]
    assert "'odd' is skipped" in found[0].msg
    assert "names 'calculator'" in found[1].msg
