"""The environment: every variable with its default, and one clear line for each bad value."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.environment import Environment
from sessions_app.logs import without_secrets

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = {
    "MRPVM_ENV": "production",
    "SECRET_KEY": "k" * 30 + "0123456789abcdefghijklmnopq",
    "ALLOWED_HOSTS": "mrpvm.example",
}


def run_python(code: str, data: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh process that has only the given variables."""
    environment = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "mrpvm.settings", "MRPVM_DATA_DIR": str(data)}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def setting(name: str, data: Path, **variables: str) -> str:
    """Give one setting, printed by a fresh process."""
    done = run_python(f"from django.conf import settings; print(settings.{name})", data, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def problems(data: Path, **variables: str) -> list[str]:
    """Give the problems that a fresh process notes about the variables."""
    code = "from django.conf import settings; print(*settings.ENVIRONMENT_PROBLEMS, sep='\\n')"
    done = run_python(code, data, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    assert problems(tmp_path) == []
    assert setting("HOST", tmp_path) == "127.0.0.1"
    assert setting("PORT", tmp_path) == "8000"
    assert setting("DATABASES['default']['NAME']", tmp_path) == str(tmp_path / "db.sqlite3")
    assert setting("CHANNEL_LAYERS['default']['BACKEND']", tmp_path).endswith("InMemoryChannelLayer")
    assert setting("DEBUG", tmp_path) == "False"


@pytest.mark.parametrize(
    ("variable", "value", "shown", "expected"),
    [
        ("PORT", "abc", "'abc'", "a whole number from 0 to 65535"),
        ("PORT", "65536", "'65536'", "a whole number from 0 to 65535"),
        ("PORT", "-1", "'-1'", "a whole number from 0 to 65535"),
        ("PORT", "٣", "'٣'", "a whole number"),
        ("MRPVM_ENV", "prod", "'prod'", "development or production"),
        ("MRPVM_DEMO", "maybe", "'maybe'", "1 or 0"),
        ("MRPVM_MAX_MESSAGE_CHARS", "0", "'0'", "a whole number of 1 or more"),
        ("DATABASE_URL", "mysql://me:hunter2@host/db", "(value not shown)", "postgresql://"),
        ("DATABASE_URL", "postgresql://me:hunter2@host:port/db", "(value not shown)", "postgresql://"),
        ("DATABASE_URL", "sqlite://:memory:", "(value not shown)", "sqlite:///path/to/file"),
        ("REDIS_URL", "localhost:hunter2", "(value not shown)", "redis://"),
        ("MRPVM_API_KEY", "hunter2", "(value not shown)", "mrp_ and 32 or more characters"),
        ("ALLOWED_HOSTS", "https://mrpvm.example", "'https://mrpvm.example'", "host names"),
        ("CORS_ALLOWED_ORIGINS", "https://app.example/path", "'https://app.example/path'", "origins"),
        ("MRPVM_LLM_BASE_URL", "localhost:11434", "'localhost:11434'", "http://"),
        ("MRPVM_LLM_API", "grpc", "'grpc'", "chat or responses"),
    ],
)
def test_a_bad_value_gives_one_line_with_name_value_and_what_is_expected(
    tmp_path: Path, variable: str, value: str, shown: str, expected: str
) -> None:
    lines = problems(tmp_path, **{variable: value})
    assert len(lines) == 1
    assert lines[0].startswith(f"{variable} is {shown}: expected ")
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


def test_production_needs_a_secret_key_and_host_names(tmp_path: Path) -> None:
    lines = problems(tmp_path, MRPVM_ENV="production")
    assert [line.split(":")[0] for line in lines] == ["SECRET_KEY is not set", "ALLOWED_HOSTS is not set"]
    assert problems(tmp_path, **PRODUCTION) == []
    assert not (tmp_path / "secret_key").exists()


def test_production_turns_on_what_needs_https(tmp_path: Path) -> None:
    names = ["SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS"]
    assert [setting(name, tmp_path) for name in names] == ["False", "False", "False", "0"]
    assert [setting(name, tmp_path, **PRODUCTION) for name in names] == ["True", "True", "True", "31536000"]


def test_the_generated_secret_key_is_kept_and_private(tmp_path: Path) -> None:
    first = setting("SECRET_KEY", tmp_path)
    assert len(first) >= 50
    assert setting("SECRET_KEY", tmp_path) == first
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_redis_and_postgresql_are_taken_from_their_addresses(tmp_path: Path) -> None:
    redis = {"REDIS_URL": "redis://:secret@127.0.0.1:6390/1"}
    assert setting("CHANNEL_LAYERS['default']['BACKEND']", tmp_path, **redis).endswith("RedisPubSubChannelLayer")
    assert setting("CACHES['default']['BACKEND']", tmp_path, **redis).endswith("RedisCache")
    database = {"DATABASE_URL": "postgresql://me:secret@127.0.0.1:5433/mrpvm"}
    assert setting("DATABASES['default']['ENGINE']", tmp_path, **database) == "django.db.backends.postgresql"
    assert setting("DATABASES['default']['CONN_HEALTH_CHECKS']", tmp_path, **database) == "True"


def test_sqlite_waits_for_writers_and_survives_power_loss(tmp_path: Path) -> None:
    options = setting("DATABASES['default']['OPTIONS']", tmp_path)
    assert "'transaction_mode': 'IMMEDIATE'" in options
    assert "journal_mode=WAL" in options
    assert "synchronous=FULL" in options


def test_several_workers_need_redis(tmp_path: Path) -> None:
    code = (
        "from django.conf import settings\n"
        "from sessions_app.checks import check_processes\n"
        "print(*[error.msg for error in check_processes(None)])"
    )
    line = run_python(code, tmp_path, WEB_CONCURRENCY="2").stdout.strip()
    assert line == "WEB_CONCURRENCY is 2: several processes need REDIS_URL to share events."
    assert run_python(code, tmp_path, WEB_CONCURRENCY="2", REDIS_URL="redis://127.0.0.1:6390").stdout.strip() == ""


def test_cors_is_off_unless_origins_are_set(tmp_path: Path) -> None:
    assert "corsheaders" not in setting("MIDDLEWARE", tmp_path)
    assert "corsheaders" in setting("MIDDLEWARE", tmp_path, CORS_ALLOWED_ORIGINS="https://app.example")


def test_the_policy_allows_nothing_inline_and_nothing_foreign(tmp_path: Path) -> None:
    policy = setting("SECURE_CSP", tmp_path)
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


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("key mrp_abcdefgh12345678 was refused", "abcdefgh12345678"),
        ("key sk-proj-abcdefgh12345678 was refused", "abcdefgh12345678"),
        ("Authorization: Bearer abc.def.ghi", "abc.def.ghi"),
        ("GET /login?next=/&token=abcdef HTTP/1.1", "abcdef"),
        ("cannot reach postgresql://me:hunter2@db:5432/x", "hunter2"),
    ],
)
def test_a_log_line_holds_no_secret(line: str, secret: str) -> None:
    assert secret not in without_secrets(line)
    assert "…" in without_secrets(line)


def test_a_log_line_without_secrets_is_unchanged() -> None:
    line = "session sess-abc: turn 3 succeeded in 12 ms at http://127.0.0.1:8000/sessions"
    assert without_secrets(line) == line
