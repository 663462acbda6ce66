"""Invalid sources, at every address that takes one: a clear error, and nothing is stored."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator

import pytest
from django.db import connections
from pytest_django import Settings

from sessions_app.models import (
    ContextUnit,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Posting,
    QuarantinedChunk,
    Session,
    UnitEvent,
)
from tests.api.conftest import Caller
from tests.live import LiveServer
from tests.sources.office_files import OLE, docx, xlsx
from tests.sources.pdfs import pdf

MIB = 1024 * 1024
DOORS = ("/api/kbs/default/sources", "/api/sessions/{}/workspace/sources", "/api/sessions/{}/context")
PATHS = (
    "../etc/passwd", "..", ".", "/etc", "a/b", "a\\b", "C:\\x", "~", "a b", "a\nb", "%2e%2e", "-a", "é", "a" * 129, "",
)  # fmt: skip
STORED = (ContextUnit, KnowledgeSource, LayerUnit, Posting, QuarantinedChunk, UnitEvent)


@pytest.fixture(params=DOORS, ids=["base", "draft", "memory"])
def door(request: pytest.FixtureRequest, session_id: str) -> str:
    return str(request.param).format(session_id)


@pytest.fixture
def nothing_is_stored(session_id: str) -> Iterator[None]:
    base, layers = KnowledgeBase.objects.values().get(), set(KnowledgeLayer.objects.values_list("pk", "unit_count"))
    yield
    assert {model.__name__: model._default_manager.count() for model in STORED} == dict.fromkeys(
        (model.__name__ for model in STORED), 0
    )
    assert KnowledgeBase.objects.values().get() == base
    assert set(KnowledgeLayer.objects.values_list("pk", "unit_count")) == layers
    session = Session.objects.get()
    assert (session.is_dirty, session.unit_count) == (False, 0)


@pytest.mark.parametrize(
    ("name", "data", "kind", "status", "code"),
    [
        ("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), "image/png", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("notes.txt", b"\x7fELF\x02\x01\x01" + b"\0" * 50, "text/plain", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("notes.docx", b"PK\x03\x04" + b"\0" * 500, "text/plain", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("notes.docx", docx("<w:p>")[:-30], "application/octet-stream", 422, "SOURCE_UNREADABLE"),
        ("notes.docx", b"no archive", "application/octet-stream", 422, "SOURCE_UNREADABLE"),
        ("notes.doc", OLE, "application/msword", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("sums.xlsx", xlsx({"S": [["a", "=1+1"]]}), "application/octet-stream", 422, "SOURCE_UNREADABLE"),
        ("feed.xml", b"<rss></rss>", "application/xml", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("tree.json", b'[{"a": {}}]', "application/json", 422, "SOURCE_UNREADABLE"),
        ("notes.md.gz", b"\x1f\x8b\x08" + b"\0" * 50, "text/markdown", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("notes.txt", "Größe".encode("latin-1"), "text/plain", 422, "SOURCE_UNREADABLE"),
        ("notes.txt", "Größe".encode()[:-1] + b"\xff", "text/plain; charset=utf-8", 422, "SOURCE_UNREADABLE"),
        ("notes.txt", b"Dogs bark.", "text/plain; charset=klingon", 422, "SOURCE_UNREADABLE"),
        ("notes.txt", b"\xed\xa0\x80 half of a pair", "text/plain", 422, "SOURCE_UNREADABLE"),
        ("notes.pdf", pdf("text")[:300], "application/pdf", 422, "SOURCE_UNREADABLE"),
        ("notes.txt", b" \n" * 1000, "text/plain", 400, "INVALID_INPUT"),
        ("notes.txt", b"", "text/plain", 400, "INVALID_INPUT"),
        ("n" * 300 + ".txt", b"Dogs bark.", "text/plain", 400, "INVALID_INPUT"),
        ("notes.zip", b"PK\x03\x04\0\0", "application/octet-stream", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("notes.pdf", b"not one", "application/octet-stream", 422, "SOURCE_UNREADABLE"),
        ("notes.html", b"<script>x</script>", "application/octet-stream", 400, "INVALID_INPUT"),
    ],
    ids=[
        "picture", "program", "archive", "torn DOCX", "no DOCX", "DOC", "bare formulas", "feed", "tree", "packed",
        "latin-1", "broken UTF-8", "unknown charset", "half a pair",
        "torn PDF", "blank", "empty", "long name", "zip", "no PDF", "script alone",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_file_that_is_none_to_read(editor: Caller, name: str, data: bytes, kind: str, status: int, code: str) -> None:
    answer = editor.upload(DOORS[0], name, data, kind)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("name", "data", "status", "code"),
    [
        ("photo.png", b"\x89PNG\r\n\x1a\n", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("notes.pdf", b"not one", 422, "SOURCE_UNREADABLE"),
        ("notes.txt", b" \n", 400, "INVALID_INPUT"),
        ("n" * 300 + ".txt", b"Dogs bark.", 400, "INVALID_INPUT"),
    ],
    ids=["picture", "no PDF", "blank", "long name"],
)
@pytest.mark.usefixtures("nothing_is_stored")
def test_every_door_refuses_what_is_none_to_read(
    editor: Caller, door: str, name: str, data: bytes, status: int, code: str
) -> None:
    answer = editor.upload(door, name, data)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("name", "data", "status", "code"),
    [
        ("notes.md", lambda: b"# Dogs\n\nDogs bark.\n\n" * 100_000, 422, "KB_VALIDATION_MAX_UNITS_PER_SOURCE"),
        ("notes.txt", lambda: b"dog " * (5 * MIB // 4), 413, "KB_VALIDATION_TOO_LARGE"),
        ("notes.txt", lambda: b"x" * (5 * MIB), 413, "KB_VALIDATION_TOO_LARGE"),
    ],
    ids=["100,000 headings", "one line of 5 MB", "one word of 5 MB"],
)
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_file_that_wants_too_much(
    editor: Caller, session_id: str, name: str, data: Callable[[], bytes], status: int, code: str
) -> None:
    answer = editor.upload(DOORS[0], name, data())
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.rule("DECISION-33", "INGEST-4")
@pytest.mark.parametrize(
    ("setting", "limit", "status", "code"),
    [
        ("MRPVM_MAX_UPLOAD_BYTES", 10, 413, "KB_VALIDATION_TOO_LARGE"),
        ("MRPVM_MAX_SOURCE_CHUNKS", 1, 422, "KB_INGEST_TOO_MANY_CHUNKS"),
        ("MRPVM_MAX_SOURCE_UNITS", 1, 422, "KB_VALIDATION_MAX_UNITS_PER_SOURCE"),
    ],
)
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_limit_holds_at_every_door(
    editor: Caller, door: str, settings: Settings, setting: str, limit: int, status: int, code: str
) -> None:
    setattr(settings, setting, limit)
    body = {"name": "dogs.md", "content": "# Dogs\n\nDogs bark.\n\n# Cats\n\nCats purr."}
    answer = editor.post(door, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.rule("API-12")
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_source_id_that_may_be_a_path(editor: Caller, door: str) -> None:
    for source_id in PATHS:
        body = {"name": "a.txt", "content": "Dogs bark.", "source_id": source_id}
        answers = [editor.post(door, body)]
        if source_id not in ("", "a\nb"):  # a form has no empty field and changes line breaks
            answers.append(editor.upload(door, "a.txt", b"Dogs bark.", source_id=source_id))
        for answer in answers:
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_SOURCE_ID"), source_id


@pytest.mark.parametrize("is_stated", [True, False], ids=["length stated", "in chunks"])
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_file_of_100_mb_is_refused_while_it_comes(
    live_asgi: LiveServer, editor: Caller, door: str, is_stated: bool
) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    connection = http.client.HTTPConnection(live_asgi.address, timeout=60)
    headers = {"Content-Type": "multipart/form-data; boundary=x", **editor.headers}
    if is_stated:
        headers["Content-Length"] = str(len(head) + 100 * MIB + len(b"\r\n--x--\r\n"))
    body = (head, *(b"dogs bark. " * 95_326 for _ in range(100)), b"\r\n--x--\r\n")
    pieces = (piece[:MIB].ljust(MIB, b".") if len(piece) > 1000 else piece for piece in body)
    connection.request("POST", door, pieces, headers, encode_chunked=not is_stated)
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["error"]["code"]) == (413, "BODY_TOO_LARGE")


@pytest.mark.parametrize("door", DOORS[:2], ids=["base", "draft"])
@pytest.mark.parametrize("line_count", [1, 5], ids=["small", "large"])
def test_the_same_file_again_is_refused(
    editor: Caller, session_id: str, door: str, line_count: int, settings: Settings
) -> None:
    settings.MRPVM_UNITS_AT_ONCE = settings.MRPVM_UNITS_A_TRANSACTION = 2
    door = door.format(session_id)
    text = b"\n\n".join(b"Dogs travel on deck %d." % number for number in range(line_count))
    made = editor.upload(door, "a.txt", text).json()["sourceId"]
    stored = [model._default_manager.count() for model in STORED]
    for name in ("a.txt", "b.txt"):
        answer = editor.upload(door, name, text)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["details"]) == (409, "SOURCE_EXISTS", {"source_id": made})
        assert "“a.txt”" in error["message"]
    assert [model._default_manager.count() for model in STORED] == stored
    assert editor.upload(door, "a.txt", text, source_id=made).json()["sourceId"] == made


def test_a_text_that_is_no_longer_there_may_come_again(editor: Caller, session_id: str) -> None:
    base, draft, _ = (door.format(session_id) for door in DOORS)
    made = editor.upload(base, "a.txt", b"Dogs travel on deck 3.").json()["sourceId"]
    assert editor.upload(base, "a.txt", b"Dogs travel on deck 4.", source_id=made).status_code == 201
    assert editor.upload(base, "a.txt", b"Dogs travel on deck 3.").status_code == 201
    staged = editor.upload(draft, "c.txt", b"Cats travel on deck 5.").json()["sourceId"]
    assert editor.delete(f"{draft}/{staged}").status_code == 200
    assert editor.upload(draft, "c.txt", b"Cats travel on deck 5.").json()["sourceId"] == staged


def test_the_same_name_may_hold_another_text(editor: Caller, talked: Session) -> None:
    first, second = (editor.upload(DOORS[0], "a.txt", b"Dogs travel on deck %d." % number).json() for number in (3, 4))
    assert second["sourceId"] == f"{first['sourceId']}-1"
    assert editor.get("/api/kbs/default").json()["sourceCount"] == 2


def test_the_same_source_at_the_same_time_is_there_once(
    live_asgi: LiveServer, caller: Callable[..., Caller], talked: Session
) -> None:
    """Each is stored completely or refused; the base shows one of them."""
    callers = [caller() for _ in range(4)]
    statuses: list[int] = []

    def send(number: int) -> None:
        body = json.dumps({"name": "a", "content": f"Dogs travel on deck {number}.", "source_id": "decks"})
        connection = http.client.HTTPConnection(live_asgi.address, timeout=60)
        headers = {"Content-Type": "application/json", **callers[number].headers}
        connection.request("POST", DOORS[0], body, headers)
        statuses.append(connection.getresponse().status)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connections.close_all()
    assert set(statuses) <= {201, 409}
    assert 201 in statuses
    base = KnowledgeBase.objects.select_related("head").get()
    assert (base.head.unit_count, base.source_count) == (1, 1)
    assert not KnowledgeLayer.objects.filter(kind="staged").exists()
