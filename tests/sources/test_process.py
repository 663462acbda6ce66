"""The process that reads sources: the same units as in the server, and hostile files."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from mrpvm.errors import EngineTimeout, InvalidInput, MRPError, TooLarge, Unreadable
from mrpvm.llm.absent import AbsentModel
from mrpvm.sources import protocol
from mrpvm.sources.limits import IngestLimits
from mrpvm.sources.normalisers import NORMALISERS, runs_apart
from mrpvm.sources.normalising import admitted_units, chunk_context, chunk_input
from mrpvm.sources.process import ReadingProcess
from mrpvm.sources.process_limits import UNPACKED_BYTES
from mrpvm.sources.source import SourceFile, finish_source, read_source
from tests.sources.office_files import docx, paragraph, repacked, xlsx
from tests.sources.pdfs import bomb, pdf

TEXT = "\n\n".join(f"# Part {part}\n\nPump {part} uses valve {part}. It is in hall {part}." for part in range(5))
PAGE = b"<h1>Decks</h1><p>Dogs travel on the upper deck.</p><h1>Cabins</h1><p>Cabins have no windows.</p>"


def file(data: bytes, name: str = "a.md", **more: Any) -> SourceFile:
    return SourceFile(source_id="src-1", name=name, data=data, ingested_at="2026-01-01T00:00:00+00:00", **more)


def process(**options: Any) -> ReadingProcess:
    return ReadingProcess(**{"timeout_ms": 60_000, **options})


@pytest.mark.rule("INGEST-1")
def test_it_gives_what_the_server_itself_would_give() -> None:
    heard: list[tuple[int, int]] = []
    given = file(TEXT.encode())
    found = process(progress=lambda done, of: heard.append((done, of))).ingest(given, "sd-symbolic")
    read = read_source(given)
    context = chunk_context("src-1", AbsentModel(), remaining_ms=1, remaining_llm_calls=0, stopped=lambda: False)
    replies = [NORMALISERS["sd-symbolic"].normalise(chunk_input(read, place), context) for place in range(5)]
    results = [admitted_units(read, place, "sd-symbolic", reply) for place, reply in enumerate(replies)]
    assert found == finish_source(read, results, given.limits)
    assert found.text == TEXT
    assert heard == [(place, 5) for place in range(5)]
    assert process().read(given) == read


@pytest.mark.rule("INGEST-8")
def test_pages_and_documents_become_trees_with_their_provenance() -> None:
    found = process().ingest(file(PAGE, "decks.html"), "sd-symbolic")
    assert found.text == "# Decks\n\nDogs travel on the upper deck.\n\n# Cabins\n\nCabins have no windows."
    leaf = found.units[0]
    assert (leaf.claim, leaf.section_title) == ("Dogs travel on the upper deck.", "Decks")
    assert found.text[leaf.char_start : leaf.char_end] == "Dogs travel on the upper deck."
    read = process().ingest(file(pdf("Dogs travel on the upper deck.", author="Ann"), "a.pdf"), "sd-symbolic")
    assert [(unit.claim, unit.author) for unit in read.units] == [("Dogs travel on the upper deck.", "Ann")]
    letter = docx(paragraph("Decks", style="Heading1") + paragraph("Dogs travel on the upper deck."), author="Bo")
    sheet = xlsx({"Decks": [["Deck", "Use"], ["Upper", "dogs"]]}, author="Bo")
    for data, claim in ((letter, "Dogs travel on the upper deck."), (sheet, "Upper:\n- Use: dogs.")):
        unit = process().ingest(file(data, "a"), "sd-symbolic").units[0]
        assert (unit.claim, unit.section_title, unit.author) == (claim, "Decks", "Bo")


@pytest.mark.parametrize(
    ("given", "kind", "code"),
    [
        (file(b" \n"), InvalidInput, "INVALID_INPUT"),
        (file(b"%PDF-1.4", "a.pdf"), Unreadable, "SOURCE_UNREADABLE"),
        (file(b"PK\x03\x04\0"), Unreadable, "UNSUPPORTED_MEDIA_TYPE"),
        (file(TEXT.encode(), limits=IngestLimits(source_bytes=10)), TooLarge, "KB_VALIDATION_TOO_LARGE"),
        (file(TEXT.encode(), limits=IngestLimits(chunks_per_source=4)), TooLarge, "KB_INGEST_TOO_MANY_CHUNKS"),
        (file(TEXT.encode(), limits=IngestLimits(units_per_source=4)), TooLarge, "KB_VALIDATION_MAX_UNITS_PER_SOURCE"),
    ],
)
def test_refusals_come_through_as_they_are(given: SourceFile, kind: type[MRPError], code: str) -> None:
    with pytest.raises(kind) as refused:
        process().ingest(given, "sd-symbolic")
    assert refused.value.code == code


def test_reading_ends_once_there_are_too_many_units() -> None:
    lines = "\n".join(f"Pump {number} hums." for number in range(3_000))
    with pytest.raises(TooLarge) as refused:
        process().ingest(file(lines.encode(), "a.txt", limits=IngestLimits(units_per_source=100)), "sd-symbolic")
    assert 100 < refused.value.details["size"] < 500


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (lambda: bomb(100_000_000), "a.pdf", "unpacks"),
        (lambda: b"<p>" * 6_000_000, "a.html", "memory"),
        (lambda: repacked(docx(""), {"word/document.xml": bytes(UNPACKED_BYTES + 1)}), "a.docx", "unpacks"),
    ],
    ids=["a few bytes that unpack to many", "more nodes than memory", "an archive that unpacks to much"],
)
def test_greedy_files_are_refused(content: Callable[[], bytes], name: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        process().ingest(file(content(), name), "sd-symbolic")


@pytest.mark.rule("INGEST-4")
def test_a_file_that_takes_too_long_is_ended() -> None:
    with pytest.raises(EngineTimeout) as late:
        process(timeout_ms=400).ingest(file(b"<div>" * 2_000_000, "a.html"), "sd-symbolic")
    assert late.value.code == "KB_INGEST_TIMEOUT"


def test_who_waits_may_end_it() -> None:
    def stop() -> bool:
        raise InvalidInput("enough")

    with pytest.raises(InvalidInput, match="enough"):
        process(stopped=stop).ingest(file(TEXT.encode()), "sd-symbolic")


def test_it_has_none_of_the_servers_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, str]] = []

    def run(command: Any, given: Any, limits: Any, **options: Any) -> None:
        seen.append(options["environment"])
        raise ValueError

    monkeypatch.setitem(os.environ, "SECRET_KEY", "hidden")
    monkeypatch.setattr("mrpvm.sources.process.run_process", run)
    with pytest.raises(Unreadable):
        process().read(file(b"x"))
    assert set(seen[0]) == {"PYTHONPATH", "PYTHONUTF8"}


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b'{"kind":"units"}',
        b'{"kind":"units","units":[[{},[[[1]],1,""]]]}',
        b'{"kind":"refused","error":"X"}',
    ],
)
def test_a_process_that_talks_nonsense_is_an_unreadable_file(monkeypatch: pytest.MonkeyPatch, line: bytes) -> None:
    monkeypatch.setattr("mrpvm.sources.process.run_process", lambda *given, take, **more: take(line + b"\n"))
    with pytest.raises(Unreadable):
        process().ingest(file(b"x"), "sd-symbolic")


def test_only_the_very_plugin_runs_apart() -> None:
    detector = NORMALISERS["sd-symbolic"]
    assert runs_apart(detector)

    class Other(type(detector)):  # type: ignore[misc]
        pass

    assert not runs_apart(Other())


def test_a_request_survives_the_way() -> None:
    given = file(b"line\nline\n\x00", declared_type="text/plain", limits=IngestLimits(source_bytes=7))
    assert protocol.parse_request(protocol.request(given, "sd-symbolic")) == (given, "sd-symbolic")
