"""Fixtures of all tests: a database for each worker, an empty data directory, and a live server on demand."""

import gc
import os
import secrets
import shutil
import ssl
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from time import time

import _pytest.runner
import django
import hypothesis
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.test import Client, TransactionTestCase
from pytest_django import DjangoDbBlocker, Settings

from mrpvm import registry
from sessions_app import language_model
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.models import KnowledgeBase, Project, Session
from tests.actions.knowledge_scene import ListeningRetriever
from tests.command_line import CommandRunner
from tests.configured_model import acting
from tests.live import LiveServer, wait_for_requests, wait_for_streams
from tests.llm.provider import KEY, Provider, say
from tests.migrated import drop_template, migrated_file, migrated_template, new_database

hypothesis.settings.register_profile("default", deadline=None, max_examples=25)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=2_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Set before worker processes start, so that all of them share the seed.
os.environ.setdefault("TEST_FUZZ_SEED", str(secrets.randbits(32)))
os.environ.setdefault("TEST_FUZZ_DOCUMENTS", "2000")


def pytest_report_header() -> str:
    """Print the seed that reproduces the damaged control documents."""
    return f"TEST_FUZZ_DOCUMENTS={os.environ['TEST_FUZZ_DOCUMENTS']} TEST_FUZZ_SEED={os.environ['TEST_FUZZ_SEED']}"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without garbage collection, and exclude their objects from it afterwards."""
    gc.disable()
    collected = yield
    gc.freeze()  # about 600,000 objects that live as long as the process
    gc.set_threshold(10_000)  # as often as in a server
    gc.enable()
    return collected


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> object:
    """Run a test as pytest does, below one frame of 640,000 bytes.

    CPython maps memory for frames 16 KB at a time, and unmaps it when the first of them returns. Tests are called at a
    depth where a loop's calls do so each time, at several times their own cost. Of the memory that is mapped for a
    large frame, 400 KB are left for those below it.
    """
    return _pytest.runner.pytest_runtest_protocol(item, nextitem)


pytest_runtest_protocol.__code__ = pytest_runtest_protocol.__code__.replace(co_stacksize=80_000)


@pytest.fixture(scope="session", autouse=True)
def data_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory for the run, so that no test touches the developer's."""
    settings.MRPVM_DATA_DIR = tmp_path_factory.mktemp("data")
    return settings.MRPVM_DATA_DIR


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Drop the PostgreSQL database that the run's workers copied."""
    if "DATABASE_URL" in os.environ and not hasattr(session.config, "workerinput"):
        drop_template(os.environ["DATABASE_URL"])


@pytest.fixture(scope="session")
def shared_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory that all workers of the run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Let SQLite use the existing, migrated file."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory, shared_directory: Path
) -> None:
    """Make a migrated database for each worker.

    A file on SQLite, because an in-memory database shared by threads answers "table is locked" where a file waits.
    It need not survive power loss.
    """
    database = settings.DATABASES["default"]
    if connection.vendor == "sqlite":
        own = tmp_path_factory.mktemp("database") / "test.sqlite3"
        database["TEST"]["NAME"] = str(shutil.copyfile(migrated_file(shared_directory), own))
        database["OPTIONS"]["init_command"] = database["OPTIONS"]["init_command"].replace(
            "synchronous=FULL", "synchronous=OFF"
        )
    else:
        database["TEST"]["TEMPLATE"] = migrated_template(shared_directory, os.environ["DATABASE_URL"])


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Close the connections of the server's threads: PostgreSQL does not drop a database in use."""
    yield
    from django.db import connection

    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session", autouse=True)
def quick_flush() -> Iterator[None]:
    """Let a test that commits delete its rows in one step and keep its connection; content types and permissions stay.

    Django's flush asks for the tables and their relations each time, and opening a file again reads its schema.
    """

    @cache
    def statements() -> list[str]:
        tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
        kept = {"django_content_type", "auth_permission"}
        # TRUNCATE of PostgreSQL makes new files for each table and index, which is several times slower.
        each = [f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables if table not in kept]  # noqa: S608
        return each if connection.vendor == "sqlite" else [";".join(each)]

    def delete_rows(case: TransactionTestCase) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            for statement in statements():
                cursor.execute(statement)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", delete_rows)
        patch.setattr(TransactionTestCase, "_should_reload_connections", lambda case: False)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Use a fast password hasher."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session", autouse=True)
def static_files_when_asked_for() -> None:
    """Look for a static file on request. Otherwise every test client lists all of them first."""
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session", autouse=True)
def shared_tls_context() -> Iterator[None]:
    """Read the certificates once. HTTP clients read them when they are made, and tests make hundreds for plain HTTP."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def statistics_at_once() -> None:
    """Let each turn teach planners before it returns, so that no write is pending when a test ends."""
    settings.MRPVM_LEARN_DELAY_MS = 0


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """Clear the caches of API keys and hidden units: rows that were rolled back leave their primary keys to others."""
    if api_keys := sys.modules.get("sessions_app.actions.settings.api_keys"):
        api_keys._forget()
    if packed := sys.modules.get("sessions_app.layers.retrieval.packed"):
        packed._hidden_numbers.cache_clear()
    if view := sys.modules.get("sessions_app.turns.view"):
        view.stored_conditions.forget()
    if chains := sys.modules.get("sessions_app.layers.retrieval.chains"):
        chains._remembered = chains._HiddenCache()


@pytest.fixture(autouse=True)
def fresh_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test count logins and calls from zero, in a minute that does not end during the test."""
    from django.core.cache import cache

    started = time()
    cache.key_prefix = f"test-{secrets.token_hex(8)}"
    monkeypatch.setattr("sessions_app.call_rates.time", lambda: started)


@pytest.fixture
def migrated_data(tmp_path: Path, shared_directory: Path) -> Callable[..., Path]:
    """Return a function that makes data directories under `tmp_path` whose SQLite databases are migrated."""

    def make(name: str = "") -> Path:
        data = tmp_path / name
        data.mkdir(exist_ok=True)
        shutil.copyfile(migrated_file(shared_directory), data / "db.sqlite3")
        return data

    return make


@pytest.fixture
def own_services(migrated_data: Callable[..., Path], shared_directory: Path) -> Iterator[dict[str, str]]:
    """Return the variables for server processes of the test's own: a migrated database where the run has PostgreSQL.

    Empty on SQLite, where the database lies in the data directory: a migrated one in `tmp_path`.
    """
    address = os.environ.get("DATABASE_URL")
    if not address:
        migrated_data()
        yield {}
        return
    redis = {"REDIS_URL": os.environ["REDIS_URL"]} if "REDIS_URL" in os.environ else {}
    with new_database(shared_directory, address) as url:
        yield {"DATABASE_URL": url, **redis}


@pytest.fixture
def commands(
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[CommandRunner]:
    """Return the command line on an empty `tmp_path`; what it changes in the process is as before afterwards."""
    monkeypatch.setattr(django, "setup", lambda: None)
    monkeypatch.setattr(gc, "disable", lambda: None)
    mask, before = os.umask(0), connections["default"]
    os.umask(mask)
    with django_db_blocker.unblock():
        runner = CommandRunner(settings, monkeypatch, capsys)
        runner.use(tmp_path)
        yield runner
        connections["default"].close()
    connections["default"] = before
    os.umask(mask)


@pytest.fixture
def live_asgi(transactional_db: None, settings: Settings) -> Iterator[LiveServer]:
    """Return the whole application behind a real socket; `live_asgi.url` is its address.

    Without limits on logins and calls: tests share an address and come fast.
    """
    from mrpvm import asgi
    from sessions_app.api.experiments import progress
    from sessions_app.api.knowledge import source_stream
    from sessions_app.api.turns import turn_stream

    settings.MRPVM_LOGINS_PER_MINUTE = settings.MRPVM_CHATS_PER_MINUTE = 0
    server = LiveServer(asgi.application)
    server.start_serving()
    yield server
    server.stop_serving()
    # A turn is stored as ended before its thread has written the last rows, in the midst of which nothing is flushed.
    wait_for_requests(asgi.warm_threads)
    wait_for_streams(turn_stream._threads, source_stream._threads, progress._threads)
    asgi.warm_threads.close()


@pytest.fixture
def project(db: None) -> Project:
    """Return the default project."""
    return ensure_default_project()


@pytest.fixture
def live_project(transactional_db: None) -> Project:
    """Return the default project in a committed database, which other threads can read, for real turns."""
    return ensure_default_project()


@pytest.fixture
def base(project: Project) -> KnowledgeBase:
    return create_base(project, "Pumps")


@pytest.fixture
def session(project: Project, base: KnowledgeBase) -> Session:
    return create_session(project, base=base)


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> ListeningRetriever:
    plugin = ListeningRetriever()
    monkeypatch.setattr(registry, "installed", registry.Registry([plugin]))
    return plugin


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create_superuser("operator")


@pytest.fixture
def operators(operator: User, client: Client) -> Client:
    client.force_login(operator)
    return client


@pytest.fixture
def provider(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """Return the configured provider, without waits between attempts."""
    with Provider(otherwise=acting(say("It is Rex [1]."))) as made:
        settings.MRPVM_LLM_BASE_URL, settings.MRPVM_LLM_MODEL = made.url, "some-model"
        settings.MRPVM_LLM_API_KEY = KEY
        endpoint = language_model.endpoint()
        assert endpoint is not None
        monkeypatch.setattr(endpoint, "pause", lambda seconds: None)
        yield made


@pytest.fixture
def unvalidated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the validators, as MRPVM_DISABLED_PLUGINS does."""
    kept = {key: item for key, item in registry.installed._plugins.items() if key[0] != "val-plugin"}
    monkeypatch.setattr(registry.installed, "_plugins", kept)


@pytest.fixture
def lasting(transactional_db: None) -> Iterator[None]:
    """Let SQLite wait for the disk, as it does outside of tests."""
    if connection.vendor != "sqlite":
        pytest.skip("Only SQLite has one writer.")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous = FULL")
        yield
        cursor.execute("PRAGMA synchronous = OFF")
