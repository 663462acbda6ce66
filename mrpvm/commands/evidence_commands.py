"""`/memory evidence`: texts of files that can be looked up and cited, and never outrank what was told."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from mrpvm.commands.evidence import chunks_of
from mrpvm.commands.facts import MemoryQuery, Ports
from mrpvm.commands.remembered import EVIDENCE, names_secret
from mrpvm.commands.result import CommandOutcome, error, invalid_args, ok
from mrpvm.errors import MRPError
from mrpvm.preview import counted

PATH_CHARS = 200
SHOWN_CHUNKS = 10
_LABEL: Mapping[str, Any] = {"non_canonical": True, "canonical_precedence": "structured_long_term"}
_LEAD = "Evidence, not canonical; structured long-term memory comes first:"


def evidence(args: Sequence[str], ports: Ports) -> CommandOutcome:
    """Read a file's text into the session, or look its chunks up."""
    match args:
        case ("ingest", _, *_):
            return _ingest(PurePosixPath(" ".join(args[1:])).as_posix(), ports)
        case ("ingest",):
            return invalid_args("/memory evidence ingest requires a path.", "memory", "evidence")
        case ("show", *words):
            return _show(" ".join(words), ports)
    return invalid_args("/memory evidence requires one subcommand: ingest|show.", "memory", "evidence")


def _ingest(path: str, ports: Ports) -> CommandOutcome:
    if len(path) > PATH_CHARS:
        return _not_ingested(f"the path has {len(path)} characters; {PATH_CHARS} are allowed.")
    try:
        chunks = chunks_of(ports.evidence_text(path))
    except MRPError as problem:
        return _not_ingested(problem.message)
    if not chunks:
        return _not_ingested("the file holds no text.")
    kept = [chunk for chunk in chunks if not names_secret(chunk)]
    if not kept:
        return error("memory_policy_denied", "memory content that names credentials is not kept.", {"path": path})
    ports.memory.keep_evidence(path, kept)
    left_out = len(chunks) - len(kept)
    cut = f" {left_out} that name credentials are left out." if left_out else ""
    count = f"{counted(len(kept), 'chunk')}"
    data = {"path": path, "chunks": len(kept), "left_out": left_out, **_LABEL}
    return ok("memory_evidence_ingested", f"Ingested '{path}' as evidence, not canonical: {count}.{cut}", data)


def _not_ingested(reason: str) -> CommandOutcome:
    return error("memory_invalid_input", f"evidence was not ingested: {reason}")


def _show(words: str, ports: Ports) -> CommandOutcome:
    query = MemoryQuery(text="" if words == "*" else words, domains=(EVIDENCE,))
    records = ports.memory.records(query, SHOWN_CHUNKS + 1)
    if not records:
        return ok("memory_empty", "No evidence found.", {"count": 0, **_LABEL})
    shown = records[:SHOWN_CHUNKS]
    lines = [_LEAD, *(f"- {record.id} ({record.citation}): {record.content}" for record in shown)]
    if len(records) > SHOWN_CHUNKS:
        lines.append(f"Others are left out; {SHOWN_CHUNKS} are shown.")
    data = {"count": len(shown), "citations": [record.citation for record in shown], **_LABEL}
    return ok("memory_evidence_shown", "\n".join(lines), data)
