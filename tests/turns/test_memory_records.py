"""Rows of a session's memories: consolidation, conflicts, archives, expiry, evidence, forks."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from mrpvm.commands.remembered import recalled
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.commands.messages import answer_message
from sessions_app.models import Message, RememberedText, Session
from sessions_app.queries.sessions.remembered import remembered_texts
from sessions_app.turns.call import TurnCall


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, settings: Settings) -> None:
    """Use a separate data directory for the test."""
    settings.MRPVM_DATA_DIR = tmp_path


def give(session: Session, text: str) -> str:
    """Return the reply of a command."""
    result = answer_message(session, TurnCall(message=text)).turn.command_result
    assert result is not None
    return str(result["message"])


def say(session: Session, *texts: str) -> None:
    """Store messages of the user, each with an answer."""
    session.refresh_from_db()
    for text in texts:
        for role, content in (("user", text), ("assistant", "My name is Bot.")):
            session.message_sequence += 1
            Message.objects.create(session=session, sequence=session.message_sequence, role=role, content=content)
    session.save()


def standing(session: Session) -> dict[str, str]:
    """Return every text with its status."""
    return dict(session.remembered_texts.order_by("id").values_list("content", "status"))


def test_consolidation_marks_contradicted_memories(session: Session) -> None:
    """The old value is kept and marked as conflicted, and turns no longer get it."""
    say(session, "My name is Ann.", "I prefer tea.")
    give(session, "/memory long consolidate --dry-run")
    assert standing(session) == {}
    give(session, "/memory long consolidate")
    assert standing(session) == {"My name is Ann.": "needs_verification", "I prefer tea.": "needs_verification"}
    row = RememberedText.objects.get(content="My name is Ann.")
    assert (row.source, row.confidence, row.domain) == ("inference", 0.8, "user_profile")
    say(session, "My name is Anna.")
    assert "1 marked as conflicted" in give(session, "/memory long consolidate")
    assert standing(session)["My name is Ann."] == "conflicted"
    assert "My name is Ann." not in [item.content for item in remembered_texts(session)]
    assert "My name is Ann." not in give(session, "/memory long show")
    assert "My name is Ann. [conflicted]" in give(session, "/memory long show --include-conflicted")
    assert session.remembered_texts.count() == Session.objects.get(pk=session.pk).remembered_count == 3
    kinds = list(session.events.values_list("kind", flat=True))
    assert kinds.count("memory.updated") == 2, "a preview is no change"


def test_what_is_verified_is_what_holds(session: Session) -> None:
    say(session, "My name is Ann.")
    give(session, "/memory long consolidate")
    say(session, "My name is Anna.")
    give(session, "/memory long consolidate")
    first = RememberedText.objects.get(content="My name is Ann.")
    assert give(session, f"/memory long verify {first.record_id}").startswith("Verified")
    assert standing(session) == {"My name is Ann.": "verified", "My name is Anna.": "conflicted"}
    first.refresh_from_db()
    assert first.verified_at is not None


def test_nothing_is_consolidated_unasked(session: Session) -> None:
    answer_message(session, TurnCall(message="My name is Ann."))
    assert standing(session) == {}


def test_tasks_are_kept_apart(session: Session) -> None:
    say(session, "task ferry: the gate is A", "task train: the gate is A")
    give(session, "/memory long consolidate")
    assert give(session, "/memory show") == "No memory records found."
    assert give(session, "/memory long task show --namespace task:ferry").count("the gate is A") == 1
    assert session.remembered_texts.count() == 2


def test_archived_texts_are_hidden_until_verified(session: Session) -> None:
    give(session, "/remember The key hangs left.")
    row = session.remembered_texts.get()
    assert give(session, f"/memory long archive {row.record_id}").startswith("Archived")
    assert remembered_texts(session) == []
    assert give(session, "/memory show") == "No memory records found."
    assert give(session, "/memory long show --include-expired --include-conflicted") == "No memory records found."
    assert give(session, "/memory long show --include-archived") == f"- {row.record_id}: The key hangs left. [archived]"
    give(session, f"/memory long verify {row.record_id}")
    assert standing(session) == {"The key hangs left.": "verified"}
    give(session, f"/memory long archive {row.record_id}")
    assert give(session, "/remember the KEY hangs left.") == f"Remembered ({row.record_id}): The key hangs left."
    assert [item.content for item in remembered_texts(session)] == ["The key hangs left."]
    assert list(session.events.values_list("kind", flat=True)).count("memory.updated") == 5


def test_what_has_expired_is_hidden_until_it_is_told_again(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """At exactly its expiry time it is still valid."""
    give(session, "/remember The gate is A.")
    row = session.remembered_texts.get()
    give(session, f"/memory long expire {row.record_id} --hours 4")
    row.refresh_from_db()
    assert row.expires_at is not None
    later = row.expires_at
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert "The gate is A." in give(session, "/memory show")
    later += timedelta(microseconds=1)
    assert remembered_texts(session) == []
    assert give(session, "/memory long show --include-archived") == "No memory records found."
    assert give(session, "/memory long show --include-expired") == f"- {row.record_id}: The gate is A. [expired]"
    give(session, "/remember The gate is A.")
    assert [item.content for item in remembered_texts(session)] == ["The gate is A."]


def test_evidence_is_kept_beside_what_was_told(session: Session, tmp_path: Path) -> None:
    """Chunks have citations, are in no list of memories, are replaced by a second load, and are copied to forks."""
    folder = tmp_path / "workspace" / session.project.slug / "evidence"
    folder.mkdir(parents=True)
    (folder / "ferry.txt").write_text(f"The gate is A. {'Waves are wet. ' * 40}")
    give(session, "/remember The gate is B.")
    assert give(session, "/memory evidence ingest ferry.txt").endswith("2 chunks.")
    assert give(session, "/memory show gate").count("\n") == 0
    assert "The gate is A" not in give(session, "/memory long show")
    shown = give(session, "/memory evidence show").splitlines()
    assert ["(ferry.txt#chunk-1): The gate is A" in shown[1], "(ferry.txt#chunk-2)" in shown[2]] == [True, True]
    told = recalled(remembered_texts(session), "Which gate is it?")
    assert [text[:14] for text in told] == ["The gate is B.", "The gate is A."]
    say(session, "Hello.")
    assert fork_session(session, session.message_sequence, "edited").remembered_texts.count() == 3
    (folder / "ferry.txt").write_text("The gate is C.")
    give(session, "/memory evidence ingest ferry.txt")
    session.refresh_from_db()
    assert session.remembered_count == session.remembered_texts.count() == 2
    evidence = session.remembered_texts.get(domain="evidence")
    assert give(session, f"/memory long verify {evidence.record_id}").startswith("Error")
    assert give(session, f"/memory long archive {evidence.record_id}").startswith("Error")
    assert give(session, f"/forget {evidence.record_id}").startswith("Forgot")
    assert give(session, "/memory evidence show") == "No evidence found."


@pytest.mark.parametrize("path", ["../SOUL.md", "/etc/hostname", "link.txt", "folder", "latin.txt", "..", "~", "pipe"])
def test_only_texts_inside_the_evidence_folder_are_read(session: Session, tmp_path: Path, path: str) -> None:
    home = tmp_path / "workspace" / session.project.slug
    (home / "evidence" / "folder").mkdir(parents=True)
    (home / "SOUL.md").write_text("Outside.")
    (home / "evidence" / "link.txt").symlink_to(home / "SOUL.md")
    (home / "evidence" / "latin.txt").write_bytes(b"caf\xe9")
    os.mkfifo(home / "evidence" / "pipe")
    assert give(session, f"/memory evidence ingest {path}").startswith("Error: evidence was not ingested: ")
    assert session.remembered_texts.count() == 0


def test_a_fork_remembers_what_was_told_by_then(session: Session) -> None:
    say(session, "Hello.")
    give(session, "/remember The key hangs left.")
    say(session, "And?")
    give(session, "/remember The shed is locked.")
    early, late = fork_session(session, 2, "edited"), fork_session(session, 4, "expired")
    assert standing(early) == {"The key hangs left.": "active"}
    assert set(standing(late)) == {"The key hangs left.", "The shed is locked."}
    for fork in (early, late):
        fork.refresh_from_db()
        assert fork.remembered_count == fork.remembered_texts.count()
    give(early, f"/forget {early.remembered_texts.get().record_id}")
    assert session.remembered_texts.count() == 2
