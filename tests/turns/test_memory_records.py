"""What sessions remember as rows: consolidation, conflicts, verification, forks [L-130 to L-137]."""

from pathlib import Path

import pytest
from pytest_django import Settings

from sessions_app.actions.session_forks import fork_session
from sessions_app.models import Message, RememberedText, Session
from sessions_app.queries.remembered import remembered_texts
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, settings: Settings) -> None:
    """Keep the test's files apart from every other test's."""
    settings.MRPVM_DATA_DIR = tmp_path


def give(session: Session, text: str) -> str:
    """Give what a command says."""
    result = run_turn(session, TurnCall(message=text)).turn.command_result
    assert result is not None
    return str(result["message"])


def say(session: Session, *texts: str) -> None:
    """Store what the user said, and an answer to each."""
    session.refresh_from_db()
    for text in texts:
        for role, content in (("user", text), ("assistant", "My name is Bot.")):
            session.message_sequence += 1
            Message.objects.create(session=session, sequence=session.message_sequence, role=role, content=content)
    session.save()


def standing(session: Session) -> dict[str, str]:
    """Give every text with its status."""
    return dict(session.remembered_texts.order_by("id").values_list("content", "status"))


def test_consolidation_reads_the_users_messages_and_marks_what_they_contradict(session: Session) -> None:
    """[L-135]: the old value stays, is conflicted, and is told no more."""
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
    run_turn(session, TurnCall(message="My name is Ann."))
    assert standing(session) == {}


def test_tasks_are_kept_apart(session: Session) -> None:
    """[L-132]"""
    say(session, "task ferry: the gate is A", "task train: the gate is A")
    give(session, "/memory long consolidate")
    assert give(session, "/memory show") == "No memory records found."
    assert give(session, "/memory long task show --namespace task:ferry").count("the gate is A") == 1
    assert session.remembered_texts.count() == 2


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
