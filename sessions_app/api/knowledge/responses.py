"""What clients get of knowledge bases, their sources and revisions, for the schema."""

from rest_framework import serializers

from sessions_app.api.shell.responses import Bool, Int, Page, Str, Time, nullable, texts


class Source(serializers.Serializer):
    """A source of a base; `dirty` with units that are left out because what they came from has changed."""

    sourceId = Str()
    name = Str()
    kind = Str()
    hash = Str()
    chunkCount = Int()
    unitCount = Int()
    quarantinedChunkCount = Int()
    addedAt = Time()
    updatedAt = Time()
    status = serializers.ChoiceField(("ready", "dirty"))


class SourceAdded(Source):
    """A source that was just added or replaced, or was there to the letter: `unchanged`."""

    kb_id = Str()
    unchanged = Bool()


class SourcePage(Page):
    """A page of sources."""

    sources = Source(many=True)


class SourceStaged(SourceAdded):
    """A source that was just staged in a session's draft."""

    workspace_dirty = Bool()
    seed_detector_plugin = Str()


class WorkspaceFacts(serializers.Serializer):
    """What a session's draft shows, and whether it is saved; `sources` is a page of them."""

    mountedKbId = Str()
    mountedKbName = Str()
    dirty = Bool()
    sourceCount = Int()
    unitCount = Int()
    lastSavedAt = nullable(Time)
    sources = Source(many=True)


class WorkspaceObject(Page):
    """A session's workspace."""

    session_id = Str()
    kb_id = Str()
    kb_name = Str()
    workspace = WorkspaceFacts()


class QuarantinedChunk(serializers.Serializer):
    """A part of a source that did not become units."""

    sourceId = Str()
    sourceName = Str()
    chunkIndex = Int()
    text = Str()
    controlText = nullable(Str)
    message = Str()
    diagnostics = texts()
    createdAt = Time()


class QuarantinePage(Page):
    """A page of such parts."""

    chunks = QuarantinedChunk(many=True)


class Repository(serializers.Serializer):
    """A knowledge base."""

    id = Str()
    kbId = Str()
    name = Str()
    createdAt = Time()
    updatedAt = Time()
    parentKbId = nullable(Str)
    isDefault = Bool()
    sourceCount = Int()
    unitCount = Int()
    revision = Int()


class RevisionObject(serializers.Serializer):
    """What a knowledge base was, and why it became that."""

    revision = Int()
    reason = Str()
    createdAt = Time()
    unitCount = Int()
    isCurrent = Bool()


class RevisionPage(Page):
    """A page of revisions."""

    revisions = RevisionObject(many=True)


class RepositoryPage(Page):
    """A page of knowledge bases."""

    kbs = Repository(many=True)


class RepositoryCreated(serializers.Serializer):
    """A new knowledge base."""

    id = Str()
    kb_id = Str()
    kb_name = Str()
    created_at = Time()
    updated_at = Time()
    parent_kb_id = nullable(Str)
    is_default = Bool()
