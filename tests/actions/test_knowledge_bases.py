"""Creating bases and adding sources."""

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.db import IntegrityError
from django.utils import timezone

from mrpvm.errors import InvalidInput, NotFound, TooLarge
from sessions_app.actions.knowledge import bases as knowledge
from sessions_app.actions.knowledge.revisions import restore_revision
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import KnowledgeBase, KnowledgeLayer, KnowledgeSource, LayerUnit, Posting, Project, Session
from sessions_app.queries.knowledge.bases import sources
from tests.actions.knowledge_scene import (
    ListeningRetriever,
    add_text,
    committing,
    held,
    seen,
)
from tests.layers.units import make_unit


@pytest.mark.rule("BASE-1")
def test_new_base_is_empty_and_sealed(project: Project) -> None:
    base = knowledge.create_base(project, "  Pumps ")
    assert (base.name, base.revision, base.is_default, base.parent, base.source_count) == ("Pumps", 1, False, None, 0)
    assert base.head.sealed_at is not None
    assert base.head.unit_count == 0
    assert len(base.kb_id) == len("kb-") + 32


@pytest.mark.rule("BASE-1", "API-13")
def test_two_bases_may_share_a_name(project: Project) -> None:
    first, second = (knowledge.create_base(project, "Pumps") for _ in range(2))
    assert first.kb_id != second.kb_id


@pytest.mark.parametrize(
    ("name", "code"),
    [("", "KB_VALIDATION_MISSING_NAME"), (" \t", "KB_VALIDATION_MISSING_NAME"), ("x" * 201, "INVALID_INPUT")],
)
def test_bad_names_are_refused(project: Project, base: KnowledgeBase, name: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        knowledge.create_base(project, name)
    assert refused.value.code == code
    with pytest.raises(InvalidInput) as refused:
        knowledge.rename_base(base, name)
    assert refused.value.code == code
    assert KnowledgeBase.objects.get().name == "Pumps"
    assert KnowledgeLayer.objects.count() == 1


def test_longest_name_is_taken(project: Project) -> None:
    assert len(knowledge.create_base(project, "x" * 200).name) == 200


@pytest.mark.rule("BASE-2")
def test_default_base_is_made_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first = knowledge.ensure_default_base(project)
    assert (first.name, first.is_default) == ("Default KB", True)
    assert knowledge.ensure_default_base(project) == first
    with pytest.raises(IntegrityError):
        knowledge.create_base(project, "Second", is_default=True)


def test_default_base_made_by_another_process_meanwhile(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    create = knowledge.create_base

    def late(*arguments: object, **options: object) -> KnowledgeBase:
        create(project, "Default KB", is_default=True)
        return create(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(knowledge, "create_base", late)
    assert knowledge.ensure_default_base(project) == KnowledgeBase.objects.get()


def test_rename_changes_neither_content_nor_revision(base: KnowledgeBase) -> None:
    renamed = knowledge.rename_base(base, "Motors")
    assert (renamed.name, renamed.revision, renamed.head_id) == ("Motors", 1, base.head_id)


class TestAddSource:
    """A source goes into a new layer on top of the head."""

    def test_readers_of_the_base_find_it(self, base: KnowledgeBase, listener: ListeningRetriever) -> None:
        with committing():
            source = add_text(base, "manual.md", "text", [make_unit("a", "The pump leaks")], chunk_count=1)
        changed = KnowledgeBase.objects.select_related("head").get()
        assert held(base, "pump") == ["The pump leaks"]
        assert (changed.revision, changed.source_count, changed.head.unit_count) == (2, 1, 1)
        assert changed.head.parent_id == base.head_id
        assert changed.head.sealed_at is not None
        assert (source.unit_count, source.chunk_count, len(source.hash)) == (1, 1, 64)
        assert [(event.event_type, event.session_id, event.reason) for event in listener.heard] == [
            ("kb-saved", None, "source-add")
        ]

    def test_sessions_that_have_it_mounted_keep_their_view(self, session: Session, base: KnowledgeBase) -> None:
        add_text(base, "manual.md", "text", [make_unit("a", "The pump leaks")])
        assert seen(session, "pump") == []

    @pytest.mark.rule("BASE-3")
    def test_generated_ids_follow_the_name(self, base: KnowledgeBase) -> None:
        first, second, third = (add_text(base, "manual.md", "text", []).source_id for _ in range(3))
        assert first.startswith("src-")
        assert len(first) == 16
        assert (second, third) == (f"{first}-1", f"{first}-2")
        assert KnowledgeBase.objects.get().source_count == 3

    @pytest.mark.rule("UNIT-16")
    def test_the_same_id_replaces(self, base: KnowledgeBase) -> None:
        old = [make_unit("m::1", "The pump leaks"), make_unit("m::2", "The pump is blue")]
        new = [make_unit("m::1", "The pump is blue"), make_unit("m::2", "The pump is dry")]
        add_text(base, "other", "", [make_unit("o::1", "The pump leaks")], source_id="other")
        add_text(base, "manual", "", old, source_id="manual")
        add_text(base, "manual", "", new, source_id="manual")
        assert held(base, "pump") == ["The pump is blue", "The pump is dry", "The pump leaks"]
        add_text(base, "manual", "", [], source_id="manual")
        assert held(base, "pump") == ["The pump leaks"]
        changed = KnowledgeBase.objects.select_related("head").get()
        assert (changed.source_count, changed.head.unit_count, changed.head.removed_unit_count) == (2, 1, 2)

    @pytest.mark.rule("BASE-3")
    def test_what_is_replaced_keeps_the_time_it_was_added(self, base: KnowledgeBase) -> None:
        """It keeps it until it is removed. The order of uploads does not depend on the servers' clocks."""
        first, second = (add_text(base, "manual", text, [], source_id="m") for text in ("old", "new"))
        assert (second.added_at, first.updated_at) == (first.added_at, first.added_at)
        assert second.updated_at > first.updated_at
        ahead = timezone.now() + timedelta(hours=1)
        KnowledgeSource.objects.filter(pk=second.pk).update(updated_at=ahead)
        third = add_text(base, "manual", "newest", [], source_id="m")
        assert (third.added_at, third.updated_at > ahead) == (first.added_at, True)
        assert [row.hash for row in sources(KnowledgeBase.objects.select_related("head").get())] == [third.hash]

    @pytest.mark.rule("API-12")
    @pytest.mark.parametrize("source_id", ["", "../up", "-a", "a" * 129, "a\x00", "a b", "é"])
    def test_bad_ids_are_refused(self, base: KnowledgeBase, source_id: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            add_text(base, "manual", "", [], source_id=source_id)
        assert refused.value.code == "INVALID_SOURCE_ID"

    def test_a_source_needs_a_name(self, base: KnowledgeBase) -> None:
        with pytest.raises(InvalidInput):
            add_text(base, " ", "text", [])

    @pytest.mark.rule("INGEST-4")
    @pytest.mark.parametrize(
        ("setting", "limit", "code"),
        [
            ("MRPVM_MAX_UPLOAD_BYTES", 3, "KB_VALIDATION_TOO_LARGE"),
            ("MRPVM_MAX_SOURCE_CHUNKS", 1, "KB_INGEST_TOO_MANY_CHUNKS"),
            ("MRPVM_MAX_SOURCE_UNITS", 1, "KB_VALIDATION_MAX_UNITS_PER_SOURCE"),
            ("MRPVM_MAX_BASE_UNITS", 1, "KB_VALIDATION_MAX_TOTAL_UNITS"),
        ],
    )
    def test_a_limit_refuses_the_whole_source(
        self, base: KnowledgeBase, settings: LazySettings, setting: str, limit: int, code: str
    ) -> None:
        setattr(settings, setting, limit)
        units = [make_unit("a", "The pump leaks"), make_unit("b", "The valve leaks")]
        with pytest.raises(TooLarge) as refused:
            add_text(base, "manual", "text", units, chunk_count=2)
        assert refused.value.code == code
        assert refused.value.details["limit"] == limit
        assert KnowledgeBase.objects.get().revision == 1
        for model in (KnowledgeSource, LayerUnit, Posting):
            assert not model.objects.exists()

    @pytest.mark.rule("DECISION-33", "INGEST-4")
    def test_a_full_base_takes_only_replacing_sources(self, base: KnowledgeBase, settings: LazySettings) -> None:
        settings.MRPVM_MAX_BASE_SOURCES = 2
        for name in ("first", "second"):
            add_text(base, name, "", [make_unit(name, f"The pump is {name}")], source_id=name)
        with pytest.raises(TooLarge) as refused:
            add_text(base, "third", "", [make_unit("third", "The pump is third")], source_id="third")
        told = {"limit": 2, "setting": "MRPVM_MAX_BASE_SOURCES", "sources": 3}
        assert (refused.value.code, refused.value.details) == ("KB_VALIDATION_MAX_SOURCES", told)
        assert set(KnowledgeSource.objects.values_list("source_id", flat=True)) == {"first", "second"}
        assert not KnowledgeLayer.objects.filter(kind="staged").exists()
        add_text(base, "second", "", [make_unit("second", "The pump is newer")], source_id="second")
        assert held(base, "pump") == ["The pump is first", "The pump is newer"]
        assert KnowledgeBase.objects.get().source_count == 2

    @pytest.mark.rule("INGEST-4")
    def test_a_base_says_no_more_than_it_may(self, base: KnowledgeBase, settings: LazySettings) -> None:
        """The limit is on the bytes of its units' texts; a replaced source does not count."""
        settings.MRPVM_MAX_BASE_TEXT_BYTES = 20
        add_text(base, "a", "", [make_unit("a", "Größe")], source_id="a")
        add_text(base, "b", "", [make_unit("b", "x" * 9, topic="yyyy")], source_id="b")
        with pytest.raises(
            TooLarge, match=r"control text of the base has 21 bytes.*MRPVM_MAX_BASE_TEXT_BYTES"
        ) as refused:
            add_text(base, "c", "", [make_unit("c", "z")], source_id="c")
        told = {"limit": 20, "setting": "MRPVM_MAX_BASE_TEXT_BYTES", "bytes": 21}
        assert (refused.value.code, refused.value.details) == ("KB_VALIDATION_TOO_LARGE", told)
        assert set(KnowledgeSource.objects.values_list("source_id", flat=True)) == {"a", "b"}
        add_text(base, "b", "", [make_unit("b", "x" * 10, topic="yy")], source_id="b")
        add_text(base, "c", "", [make_unit("c", "z")], source_id="c")

    def test_a_base_that_is_gone(self, base: KnowledgeBase) -> None:
        KnowledgeBase.objects.all().delete()
        with pytest.raises(NotFound) as refused:
            add_text(base, "manual", "text", [])
        assert refused.value.code == "KB_NOT_FOUND"


class TestRemoveSource:
    """A removal is a new revision; earlier ones keep the source."""

    def test_the_base_no_longer_shows_it(self, base: KnowledgeBase, listener: ListeningRetriever) -> None:
        add_text(base, "other", "", [make_unit("o", "The valve leaks")], source_id="other")
        add_text(base, "manual.md", "old", [make_unit("a", "The pump is old")], source_id="m")
        add_text(base, "manual.md", "text", [make_unit("a", "The pump leaks")], source_id="m")
        with committing():
            removed = knowledge.remove_source(base, "m")
        changed = KnowledgeBase.objects.select_related("head").get()
        assert (held(base, "pump"), held(base, "valve")) == ([], ["The valve leaks"])
        assert [row.source_id for row in sources(changed)] == ["other"]
        assert (changed.revision, changed.source_count, changed.head.unit_count) == (5, 1, 1)
        assert (removed.name, changed.head.sealed_at is not None) == ("manual.md", True)
        assert [(event.event_type, event.reason) for event in listener.heard[-1:]] == [("kb-saved", "source-remove")]

    def test_sessions_and_earlier_revisions_keep_it(self, project: Project, base: KnowledgeBase) -> None:
        add_text(base, "manual.md", "text", [make_unit("a", "The pump leaks")], source_id="m")
        session = create_session(project, base=KnowledgeBase.objects.get())
        knowledge.remove_source(base, "m")
        assert seen(session, "pump") == [("The pump leaks", "kb")]
        restore_revision(base, 2)
        assert held(base, "pump") == ["The pump leaks"]

    def test_the_same_id_can_be_added_again(self, base: KnowledgeBase) -> None:
        for _ in range(2):
            add_text(base, "manual.md", "text", [make_unit("a", "The pump leaks")], source_id="m")
            knowledge.remove_source(base, "m")
        assert (held(base, "pump"), KnowledgeBase.objects.get().source_count) == ([], 0)

    def test_what_is_not_shown_is_refused(self, base: KnowledgeBase) -> None:
        add_text(base, "manual.md", "text", [], source_id="m")
        knowledge.remove_source(base, "m")
        for source_id in ("m", "another"):
            with pytest.raises(NotFound) as refused:
                knowledge.remove_source(base, source_id)
            assert refused.value.code == "SOURCE_NOT_FOUND"
        assert KnowledgeBase.objects.get().revision == 3
        assert not KnowledgeLayer.objects.filter(kind="staged").exists()
