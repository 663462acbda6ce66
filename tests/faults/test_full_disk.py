"""A full disk: writes are answered with 507, reads succeed, and writes succeed again when there is space."""

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest

from tests.server import ServerProcess

pytestmark = pytest.mark.crash

KEY = "mrp_" + "f" * 32
RECOVERY_SECONDS = 5
MOST_TURNS = 60
DISK_BYTES = 64_000_000


class SmallDisk:
    """A small mounted file system; needs the right to mount one."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._filler = place / "filler"
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=755", "tmpfs", str(place)]
        if os.getuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("a small file system cannot be mounted here")

    @contextmanager
    def full(self, room_bytes: int) -> Iterator[None]:
        """Leave only this much space during the block."""
        self.fill(room_bytes)
        try:
            yield
        finally:
            self._filler.unlink()

    def fill(self, room_bytes: int) -> None:
        """Leave only this much space from now on; space that the database frees meanwhile is filled again."""
        for _ in range(100):
            more_bytes = shutil.disk_usage(self.place).free - room_bytes
            if more_bytes <= 0:
                return
            with (
                self._filler.open("ab") as filler,
                suppress(OSError),
            ):  # a server wrote meanwhile: there is less to fill
                os.posix_fallocate(filler.fileno(), filler.tell(), more_bytes)
        raise AssertionError("the disk does not get full")

    def remove(self) -> None:
        """Unmount and remove it."""
        subprocess.run(["umount", "--lazy", str(self.place)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Return a small disk, which is removed after the test."""
    place = Path(tempfile.gettempdir(), f"small-disk-{secrets.token_hex(4)}")  # PostgreSQL's user needs access
    place.mkdir(mode=0o755)
    made = SmallDisk(place)
    yield made
    made.remove()
    place.rmdir()


@pytest.fixture
def variables(disk: SmallDisk) -> Iterator[dict[str, str]]:
    """Return the variables of a server with its database on the small disk: for PostgreSQL, the tables."""
    address = os.environ.get("DATABASE_URL")
    if not address:
        yield {}
        return
    import psycopg

    name = f"small_{secrets.token_hex(4)}"
    tables = disk.place / "tables"
    tables.mkdir()
    with psycopg.connect(address, autocommit=True) as connection:
        found = connection.execute("SHOW data_directory").fetchone()
        assert found is not None
        shutil.chown(tables, Path(found[0]).owner())
        connection.execute(f"CREATE TABLESPACE {name} LOCATION '{tables}'")
        connection.execute(f"CREATE DATABASE {name} TABLESPACE {name}")
        yield {"DATABASE_URL": urlsplit(address)._replace(path=f"/{name}").geturl()}
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute(f"DROP TABLESPACE {name}")


class Client:
    """The API as a script uses it."""

    def __init__(self, server: ServerProcess) -> None:
        self.http = httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
        self.session_id = str(self.http.post("/api/sessions", json={}).json()["session_id"])
        self.said = 0

    def say(self) -> httpx.Response:
        """Run one turn; every message is different."""
        self.said += 1
        text = f"My box {self.said} is called Box{self.said}. " + f"Box{self.said} is blue. " * 100
        body = {"session_id": self.session_id, "messages": [{"role": "user", "content": text}]}
        return self.http.post("/api/chat/completions", json=body)

    def upload(self) -> httpx.Response:
        """Send a file that is too large for memory and holds no text."""
        files = {"file": ("noise.pdf", os.urandom(3_000_000))}
        return self.http.post("/api/kbs/default/sources", files=files)

    def get(self, path: str) -> httpx.Response:
        """Get a resource."""
        return self.http.get(f"/api{path}")


def within(seconds: float, holds: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("room_bytes", [0, 100_000])
def test_writes_are_refused_until_there_is_room(
    disk: SmallDisk, variables: dict[str, str], tmp_path: Path, room_bytes: int
) -> None:
    """With little space left, turns start that cannot end; they are closed when there is space."""
    data = tmp_path if variables else disk.place / "data"
    data.mkdir(exist_ok=True)
    variables |= {"TMPDIR": str(disk.place)}
    with ServerProcess(data, **variables, MRPVM_API_KEY=KEY, MRPVM_CHATS_PER_MINUTE="0") as server:
        client = Client(server)
        assert client.say().status_code == 200
        assert client.upload().json()["error"]["code"] == "UNSUPPORTED_MEDIA_TYPE"
        with disk.full(room_bytes):
            answers = [client.say()]
            while answers[-1].status_code == 200:
                assert len(answers) < MOST_TURNS, "the disk was never full"
                answers.append(client.say())
            refused = answers[-1]
            assert (refused.status_code, refused.json()["error"]["code"]) == (507, "INSUFFICIENT_STORAGE"), refused.text
            assert "Make room" in refused.json()["error"]["message"]
            assert (client.say().status_code, client.upload().status_code) == (507, 507)
            messages = client.get(f"/sessions/{client.session_id}/messages?limit=100")
            assert len(messages.json()["messages"]) == 2 * len(answers)
            reads = ("/sessions", f"/sessions/{client.session_id}", f"/sessions/{client.session_id}/explainability")
            assert [client.get(path).status_code for path in reads] == [200] * 3
            disk.fill(0)
            ready = client.get("/ready")
            assert (ready.status_code, ready.json()["checks"]["disk"]) == (503, False)
        within(RECOVERY_SECONDS, lambda: client.get("/ready").status_code == 200)
        assert client.say().status_code == 200
        turns = client.get(f"/sessions/{client.session_id}/explainability").json()["turns"]
        assert {turn["status"] for turn in turns} <= {"succeeded", "failed"}
        assert "Traceback" not in server.output
