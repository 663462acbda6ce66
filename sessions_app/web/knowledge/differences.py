"""What differs between what two layer chains show, for the pages."""

from sessions_app.layers import EffectiveView
from sessions_app.models import KnowledgeLayer
from sessions_app.queries.knowledge.differences import Differences, Shown, differences


def layer_differences(before: KnowledgeLayer, after: KnowledgeLayer) -> Differences:
    """Return what `after` shows otherwise than `before`."""
    return differences(*(Shown(layer, EffectiveView.of_layer(layer).hidden) for layer in (before, after)))
