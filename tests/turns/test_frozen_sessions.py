"""The state that a session freezes when it is created."""

from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from django.utils import timezone
from pytest_django import Settings

from mrpvm.assistants.skills import SkillRootError, SkillSnapshot
from sessions_app.actions.sessions import frozen_content
from sessions_app.actions.sessions import session as sessions
from sessions_app.actions.sessions.frozen_content import UNUSED_PERIOD, reload_skills, remove_unused_content
from sessions_app.actions.sessions.session import create_session
from sessions_app.background.sweeper import sweep
from sessions_app.models import FrozenContent, Project, Session
from sessions_app.models.sessions.frozen_content import content_key
from sessions_app.queries.sessions import skill_files
from sessions_app.queries.sessions.frozen_content import agents_of, personas_of, skills_of
from tests.assistants.skill_files import front, names, write_skill


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, settings: Settings) -> None:
    """Use a separate data directory for the test."""
    settings.MRPVM_DATA_DIR = tmp_path


def mine(tmp_path: Path) -> Path:
    """Return the default project's folder of skills."""
    return tmp_path / "workspace" / "default" / "skills"


@pytest.mark.rule("SESSION-7")
def test_the_four_steps_come_in_their_order(project: Project) -> None:
    """Skills, personas and the model configuration are loaded in this order, before the row is inserted."""
    steps = mock.Mock()
    steps.skills.side_effect = frozen_content.current_skills
    steps.personas.side_effect = frozen_content.current_personas
    steps.models.side_effect = sessions.shared_config
    with (
        mock.patch.object(frozen_content, "current_skills", steps.skills),
        mock.patch.object(frozen_content, "current_personas", steps.personas),
        mock.patch.object(sessions, "shared_config", steps.models),
    ):
        made = create_session(project)
    assert [call[0] for call in steps.method_calls] == ["skills", "personas", "models"]
    assert made.messages.count() == made.turns.count() == 0


def test_a_required_program_is_looked_for_each_second(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file of a skill tells that a program was installed or removed."""
    write_skill(mine(tmp_path), "draw", front(eligibility='{binaries: ["mrpvm-drawing"]}'))
    program = tmp_path / "programs" / "mrpvm-drawing"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent))
    clock = mock.Mock(monotonic=mock.Mock(return_value=7.0))
    monkeypatch.setattr(skill_files, "time", clock)
    assert "draw" not in names(skill_files.current_skills(project))
    program.touch(mode=0o755)
    clock.monotonic.return_value = 7.9
    assert "draw" not in names(skill_files.current_skills(project))
    clock.monotonic.return_value = 8.0
    assert "draw" in names(skill_files.current_skills(project))
    program.unlink()
    clock.monotonic.return_value = 9.0
    assert "draw" not in names(skill_files.current_skills(project))


def test_equal_content_is_shared_within_a_project_alone(project: Project) -> None:
    """Equal content has one row, which each session refers to."""
    other = Project.objects.create(name="Other", slug="other")
    first, second, third = create_session(project), create_session(project), create_session(other)
    assert (first.skills_id, first.personas_id, first.agents_id) == (
        second.skills_id, second.personas_id, second.agents_id,
    )  # fmt: skip
    assert FrozenContent.objects.filter(project=project).count() == 3
    assert third.skills.project == other
    assert third.skills_id != first.skills_id
    assert skills_of(third) == skills_of(first)


@pytest.mark.rule("DECISION-40", "FROZEN-18", "FROZEN-19", "FROZEN-21")
def test_files_that_change_change_nothing_until_a_reload(project: Project, session: Session, tmp_path: Path) -> None:
    write_skill(mine(tmp_path), "new", front(summary="New"))
    write_skill(tmp_path / "skills", "yours", front(summary="Of the user"))
    other = create_session(project)
    assert "new" not in names(skills_of(Session.objects.get(pk=session.pk)))
    assert {"new", "yours"} <= set(names(skills_of(other)))
    before = session.skills_id
    other_before = (other.skills_id, other.snapshot_version)
    reloaded = reload_skills(session)
    assert (reloaded.snapshot_version, reloaded.skills_id) == (2, other.skills_id)
    assert reloaded.skills_id != before
    other.refresh_from_db()
    assert (other.skills_id, other.snapshot_version) == other_before
    assert session.events.order_by("sequence").last().kind == "snapshot.reloaded"  # type: ignore[union-attr]


def test_a_reload_of_equal_files_counts_and_keeps_the_content(session: Session) -> None:
    reloaded = reload_skills(session)
    assert (reloaded.snapshot_version, reloaded.skills_id) == (2, session.skills_id)


@pytest.mark.rule("FROZEN-16")
def test_a_session_cannot_be_made_without_the_shipped_skills(
    project: Project, tmp_path: Path, settings: Settings
) -> None:
    """The error names the root, and nothing is stored."""
    settings.MRPVM_SHIPPED_DIR = tmp_path / "nowhere"
    with pytest.raises(SkillRootError, match="Required skills root missing: bundled"):
        create_session(project)
    assert not Session.objects.exists()
    assert not FrozenContent.objects.exists()


def test_a_failed_reload_keeps_what_the_session_has(session: Session, tmp_path: Path, settings: Settings) -> None:
    settings.MRPVM_SHIPPED_DIR = tmp_path / "nowhere"
    with pytest.raises(SkillRootError):
        reload_skills(session)
    kept = Session.objects.get(pk=session.pk)
    assert (kept.skills_id, kept.snapshot_version) == (session.skills_id, 1)


def test_what_ships_loads_without_complaint(session: Session) -> None:
    assert names(skills_of(session)) == ["arithmetic", "checklist", "compare", "summarise"]
    assert skills_of(session).diagnostics == ()
    assert [item.id for item in personas_of(session).personas] == ["analyst", "coach", "companion", "default"]
    assert personas_of(session).diagnostics == ()
    assert [item.id for item in agents_of(session).agents] == ["default", "reader"]


def test_making_a_session_asks_little(project: Project, django_assert_max_num_queries: object) -> None:
    """Freezing takes one query if the content is already stored."""
    create_session(project)
    with django_assert_max_num_queries(1):  # type: ignore[operator]
        frozen_content.freeze_files(project)


def test_nothing_is_written_outside_the_data_directory(project: Project, tmp_path: Path) -> None:
    create_session(project)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == [
        "workspace", "workspace/default", "workspace/default/skills",
    ]  # fmt: skip


def later() -> None:
    """Make the marks of unused content older."""
    FrozenContent.objects.filter(unused_since__isnull=False).update(unused_since=timezone.now() - UNUSED_PERIOD)


def test_what_no_session_points_to_is_removed_after_a_while(project: Project, session: Session, tmp_path: Path) -> None:
    """After a reload, the old snapshot stays as long as another session refers to it."""
    other = create_session(project)
    old = session.skills_id
    write_skill(tmp_path / "skills", "new", front(summary="New"))
    reload_skills(session)
    for _ in range(2):
        assert remove_unused_content() == 0
        later()
    reload_skills(other)
    assert remove_unused_content() == 0, "found unused just now"
    assert FrozenContent.objects.get(pk=old).unused_since is not None
    assert remove_unused_content() == 0, "not for long enough"
    later()
    assert remove_unused_content() == 1
    assert set(FrozenContent.objects.values_list("pk", flat=True)) == {
        other.personas_id, other.agents_id, Session.objects.get(pk=other.pk).skills_id,
    }  # fmt: skip


def test_content_that_is_frozen_again_stays(project: Project, session: Session, tmp_path: Path) -> None:
    """A new session may need it between the mark and the removal."""
    old = session.skills_id
    write_skill(tmp_path / "skills", "new", front(summary="New"))
    reload_skills(session)
    remove_unused_content()
    (tmp_path / "skills" / "new" / "SKILL.md").unlink()
    (tmp_path / "skills" / "new").rmdir()
    later()
    assert create_session(project).skills_id == old
    assert FrozenContent.objects.get(pk=old).unused_since is None
    assert remove_unused_content() == 0


def test_a_purged_session_takes_its_snapshot_along(session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(deleted_at=timezone.now())
    remove_unused_content()
    later()
    assert remove_unused_content() == 0, "it can still be brought back"
    Session.objects.filter(pk=session.pk).update(deleted_at=timezone.now() - timedelta(days=1))
    assert sweep()["purged"] == 1
    later()
    assert sweep()["unused"] == 3


def test_content_never_changes(project: Project, session: Session, tmp_path: Path) -> None:
    """No reload or freeze updates a row, since its key is the hash of its content."""
    before = dict(FrozenContent.objects.values_list("pk", "content"))
    for version in ("a", "b", "a"):
        write_skill(tmp_path / "skills", "own", front(summary=version))
        reload_skills(session)
        create_session(project)
    after = FrozenContent.objects.in_bulk()
    assert {key: after[key].content for key in before} == before
    for row in after.values():
        if row.kind == "skills":
            assert content_key(project.pk, SkillSnapshot.of_record(row.content).content_hash) == row.pk
