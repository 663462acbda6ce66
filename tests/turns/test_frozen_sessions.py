"""What a session keeps as it was when it was made [L-10, L-20 to L-23]."""

from pathlib import Path
from unittest import mock

import pytest
from pytest_django import Settings

from mrpvm.conversation.skills import SkillRootError
from sessions_app.actions import frozen_content, sessions
from sessions_app.actions.frozen_content import reload_skills
from sessions_app.actions.sessions import create_session
from sessions_app.models import FrozenContent, Project, Session
from sessions_app.queries.frozen_content import agents_of, personas_of, skills_of
from tests.conversation.skill_files import front, names, write_skill


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, settings: Settings) -> None:
    """Keep the test's files apart from every other test's."""
    settings.MRPVM_DATA_DIR = tmp_path


def mine(tmp_path: Path) -> Path:
    """Give the default project's folder of skills."""
    return tmp_path / "workspace" / "default" / "skills"


def test_the_four_steps_come_in_their_order(project: Project) -> None:
    """[L-10]: skills, then personas, then the model configuration, all before the row is there."""
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


def test_sessions_of_a_project_share_what_is_equal_and_nothing_with_others(project: Project) -> None:
    """[L-23]: one row for one content, reachable through the session's own pointer."""
    other = Project.objects.create(name="Other", slug="other")
    first, second, third = create_session(project), create_session(project), create_session(other)
    assert (first.skills_id, first.personas_id, first.agents_id) == (
        second.skills_id, second.personas_id, second.agents_id,
    )  # fmt: skip
    assert FrozenContent.objects.filter(project=project).count() == 3
    assert third.skills.project == other
    assert third.skills_id != first.skills_id
    assert skills_of(third) == skills_of(first)


def test_files_that_change_change_nothing_until_a_reload(project: Project, session: Session, tmp_path: Path) -> None:
    """[LV18, LV19, LV21, L-21]"""
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
    """[L-41]"""
    reloaded = reload_skills(session)
    assert (reloaded.snapshot_version, reloaded.skills_id) == (2, session.skills_id)


def test_a_session_cannot_be_made_without_the_shipped_skills(
    project: Project, tmp_path: Path, settings: Settings
) -> None:
    """[LV16]: a hard failure that names the root, and nothing is left."""
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
    """Freezing costs one query once the content is known."""
    create_session(project)
    with django_assert_max_num_queries(1):  # type: ignore[operator]
        frozen_content.freeze_files(project)


def test_nothing_is_written_outside_the_data_directory(project: Project, tmp_path: Path) -> None:
    create_session(project)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == [
        "workspace", "workspace/default", "workspace/default/skills",
    ]  # fmt: skip
