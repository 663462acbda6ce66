"""Artifacts that a plugin derives from units: available in forks and views, and only to that plugin."""

from collections.abc import Callable

import pytest

from sessions_app.actions.knowledge.artifacts import keep_artifacts, keep_source_artifacts
from sessions_app.actions.knowledge.forks import fork_base, fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.layers.retrieval.port import PluginKnowledge
from sessions_app.models import KnowledgeBase, KnowledgeSource, Session, UnitArtifact
from tests.actions.knowledge_scene import add_text, stage, tell
from tests.layers.units import make_unit

SOME = {"pump": b"p", "valve": b"v"}


def port(seen: KnowledgeBase | Session, plugin_id: str = "kb-mine") -> PluginKnowledge:
    if isinstance(seen, Session):
        knowledge = SessionKnowledge.of(Session.objects.get(pk=seen.pk), keep_artifacts)
    else:
        knowledge = SessionKnowledge(EffectiveView.of_layer(seen.head), keep_artifacts)
    bound = knowledge.for_plugin(plugin_id)
    bound.newest(50)
    return bound


@pytest.fixture
def filled(base: KnowledgeBase) -> KnowledgeBase:
    add_text(base, "m", "", [make_unit(name, name) for name in ("pump", "valve", "seal")])
    base.refresh_from_db()
    return base


@pytest.mark.rule("PLUGIN-45", "BASE-15")
def test_they_are_kept_replaced_and_stale_ones_are_not_given(filled: KnowledgeBase) -> None:
    port(filled).keep_artifacts("1", SOME)
    assert port(filled).artifacts("1", ["pump", "valve", "seal", "unknown"]) == SOME
    assert port(filled).artifacts("2", ["pump"]) == {}
    port(filled).keep_artifacts("2", {"pump": b"new"})
    assert port(filled).artifacts("2", ["pump", "valve"]) == {"pump": b"new"}
    assert port(filled).artifacts("1", ["pump", "valve"]) == {"valve": b"v"}
    assert UnitArtifact.objects.count() == 2


@pytest.mark.rule("BASE-4", "BASE-14")
def test_no_plugin_sees_another_s(filled: KnowledgeBase) -> None:
    port(filled).keep_artifacts("1", SOME)
    port(filled, "kb-theirs").keep_artifacts("1", {"pump": b"x"})
    assert port(filled).artifacts("1", ["pump"]) == {"pump": b"p"}
    assert port(filled, "kb-theirs").artifacts("1", ["pump", "valve"]) == {"pump": b"x"}


@pytest.mark.rule("BASE-14")
def test_a_fork_has_them_without_a_copy(filled: KnowledgeBase, session: Session) -> None:
    tell(session, "The rotor hums")
    port(session).keep_artifacts("1", {"session::The rotor hums": b"r"})
    fork = fork_session_kb(session)
    name = port(fork).newest(50)[0].unit.id
    assert port(fork).artifacts("1", [name]) == {name: b"r"}
    port(filled).keep_artifacts("1", SOME)
    assert port(fork_base(filled)).artifacts("1", ["pump", "valve"]) == SOME
    assert UnitArtifact.objects.count() == 3


@pytest.mark.rule("BASE-14")
def test_a_drafts_artifacts_are_its_own_until_a_save(base: KnowledgeBase, session: Session) -> None:
    stage(session, "manual", "The rotor hums")
    unit_id = "manual::The rotor hums"
    port(session).keep_artifacts("1", {unit_id: b"r"})
    source = KnowledgeSource.objects.get(source_id="manual")
    keep_source_artifacts("kb-mine", source.pk, {"figures": b"f"})
    other = create_session(session.project, base=base)
    for seen in (base, other):
        assert port(seen).artifacts("1", [unit_id]) == {}
        assert port(seen).source_artifacts("manual") == {}
    saved = save_session_kb(session)
    assert port(other).artifacts("1", [unit_id]) == {}  # it mounted the base earlier
    mount_base(other, saved, reason="test")
    for seen in (saved, session, other):
        assert port(seen).artifacts("1", [unit_id]) == {unit_id: b"r"}
        assert dict(port(seen).source_artifacts("manual")) == {"figures": b"f"}
        assert port(seen, "kb-theirs").source_artifacts("manual") == {}
    assert UnitArtifact.objects.count() == 1  # no artifact was copied


def test_what_is_not_in_view_or_gone_is_left_out(session: Session, filled: KnowledgeBase) -> None:
    looking = port(filled)  # the session mounted the base while it was empty
    port(filled).keep_artifacts("1", SOME)
    assert port(session).artifacts("1", ["pump"]) == {}
    port(session).keep_artifacts("1", {"pump": b"not mine to keep"})
    assert looking.artifacts("1", ["pump"]) == {"pump": b"p"}


def test_one_query_reads_them_and_few_write(
    filled: KnowledgeBase, django_assert_max_num_queries: Callable[..., object]
) -> None:
    bound = port(filled)
    with django_assert_max_num_queries(3):  # a savepoint around the one insert
        bound.keep_artifacts("1", SOME)
    with django_assert_max_num_queries(1):
        bound.artifacts("1", list(SOME))


def test_the_newest_of_a_large_view_are_the_session_s_own(filled: KnowledgeBase, session: Session) -> None:
    assert [hit.unit.id for hit in port(filled).newest(3)] == ["seal", "valve", "pump"]
    assert list(port(filled).newest(2)) == []
    tell(session, "The rotor hums", "The rotor is loud")
    assert len(port(session).newest(9)) == 5
    assert [hit.unit.id for hit in port(session).newest(1)] == ["session::The rotor is loud"]
