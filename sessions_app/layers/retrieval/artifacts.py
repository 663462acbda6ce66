"""The knowledge port of one plugin: the session's view, with the artifacts that are the plugin's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mrpvm.contracts import ScoredUnit
from sessions_app.database import outages_told
from sessions_app.models import KnowledgeSource, SourceArtifact, UnitArtifact

if TYPE_CHECKING:
    from sessions_app.layers.retrieval.port import SessionKnowledge


class Keep(Protocol):
    """Stores a plugin's artifacts by their units' keys."""

    def __call__(self, plugin_id: str, version: str, contents: Mapping[int, bytes]) -> None:
        """Store them, or leave it."""


@dataclass(frozen=True, slots=True)
class PluginKnowledge:
    """`mrpvm.contracts.KnowledgePort` over a session's view, for one plugin; `keep` is None where nothing is kept.

    What the database cannot do now leaves every method as StorageUnavailable, which is no plugin's failure.
    """

    view: "SessionKnowledge"
    plugin_id: str
    keep: Keep | None = None

    @outages_told()
    def search(self, terms: Mapping[str, float], limit: int) -> Sequence[ScoredUnit]:
        """Return what the view finds."""
        return self.view.search(terms, limit)

    @outages_told()
    def guidance(self, limit: int) -> Sequence[ScoredUnit]:
        """Return what the view has of it."""
        return self.view.guidance(limit)

    @outages_told()
    def newest(self, limit: int) -> Sequence[ScoredUnit]:
        """Return what came last into the view."""
        return self.view.newest(limit)

    @outages_told()
    def artifacts(self, version: str, unit_ids: Sequence[str]) -> Mapping[str, bytes]:
        """Return the plugin's artifacts of this version, one query; of units that the view has given alone."""
        known = self.view.given
        ids = {known[unit_id]: unit_id for unit_id in unit_ids if unit_id in known}
        rows = UnitArtifact.objects.filter(unit_id__in=ids, plugin_id=self.plugin_id, version=version)
        return {ids[unit]: bytes(content) for unit, content in rows.values_list("unit_id", "content")}

    @outages_told()
    def keep_artifacts(self, version: str, contents: Mapping[str, bytes]) -> None:
        """Keep what is of units that the view has given."""
        known = self.view.given
        if self.keep is not None:
            self.keep(
                self.plugin_id,
                version,
                {known[unit_id]: content for unit_id, content in contents.items() if unit_id in known},
            )

    @outages_told()
    def source_artifacts(self, source_id: str) -> Mapping[str, bytes]:
        """Return what the plugin derived from the newest source of this id in the view; two queries."""
        sources = KnowledgeSource.objects.filter(layer_id__in=self.view.view.chain, source_id=source_id)
        newest = sources.latest_last().values_list("pk", flat=True).last()
        rows = SourceArtifact.objects.filter(source_id=newest, plugin_id=self.plugin_id)
        return {name: bytes(content) for name, content in rows.values_list("name", "content")}
