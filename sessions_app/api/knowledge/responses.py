"""What clients get of knowledge bases, their sources and revisions, for the schema."""

from datetime import datetime
from typing import Annotated, TypedDict

from sessions_app.api.shell.responses import PageObject
from sessions_app.field_notes import OneOf


class SourceObject(TypedDict):
    """A source of a base; `dirty` with units that are left out because what they came from has changed."""

    sourceId: str
    name: str
    kind: str
    hash: str
    chunkCount: int
    unitCount: int
    quarantinedChunkCount: int
    addedAt: datetime
    updatedAt: datetime
    status: Annotated[str, OneOf(("ready", "dirty"))]


class SourceAdded(SourceObject):
    """A source that was just added or replaced, or was there to the letter: `unchanged`."""

    kb_id: str
    unchanged: bool


class SourcePage(PageObject):
    """A page of sources."""

    sources: list[SourceObject]


class SourceStaged(SourceAdded):
    """A source that was just staged in a session's draft."""

    workspace_dirty: bool
    seed_detector_plugin: str


class WorkspaceFacts(TypedDict):
    """What a session's draft shows, and whether it is saved; `sources` is a page of them."""

    mountedKbId: str
    mountedKbName: str
    dirty: bool
    sourceCount: int
    unitCount: int
    lastSavedAt: datetime | None
    sources: list[SourceObject]


class WorkspaceObject(PageObject):
    """A session's workspace."""

    session_id: str
    kb_id: str
    kb_name: str
    workspace: WorkspaceFacts


class QuarantinedChunkObject(TypedDict):
    """A part of a source that did not become units."""

    sourceId: str
    sourceName: str
    chunkIndex: int
    text: str
    controlText: str | None
    message: str
    diagnostics: list[str]
    createdAt: datetime


class QuarantinePage(PageObject):
    """A page of such parts."""

    chunks: list[QuarantinedChunkObject]


class Repository(TypedDict):
    """A knowledge base."""

    id: str
    kbId: str
    name: str
    createdAt: datetime
    updatedAt: datetime
    parentKbId: str | None
    isDefault: bool
    sourceCount: int
    unitCount: int
    revision: int


class RevisionObject(TypedDict):
    """What a knowledge base was, and why it became that."""

    revision: int
    reason: str
    createdAt: datetime
    unitCount: int
    isCurrent: bool


class RevisionPage(PageObject):
    """A page of revisions."""

    revisions: list[RevisionObject]


class RepositoryPage(PageObject):
    """A page of knowledge bases."""

    kbs: list[Repository]


class RepositoryCreated(TypedDict):
    """A new knowledge base."""

    id: str
    kb_id: str
    kb_name: str
    created_at: datetime
    updated_at: datetime
    parent_kb_id: str | None
    is_default: bool
