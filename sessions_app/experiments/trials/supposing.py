"""Units that a trial supposes: text that is found like what the session knows, for as long as the trial runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import replace

from sessions_app.experiments.replays.recorded import RecordedTurn
from sessions_app.experiments.trials.changes import Changes
from sessions_app.ingest.load import stated_units
from sessions_app.layers import EffectiveView, drop_staged, fill, staging

SOURCE_NAME = "supposition"
_DETECTOR = "sd-symbolic"
"""Reads what is supposed: it asks no model."""


@contextmanager
def supposing(recorded: RecordedTurn, changes: Changes, view: EffectiveView) -> Iterator[EffectiveView]:
    """Return the view with the supposed units in a layer of their own on top, which is removed afterwards.

    Raises:
        InvalidInput: a supposed text states nothing.
    """
    if not changes.with_units:
        yield view
        return
    text = "\n\n".join(changes.with_units)
    units = stated_units(recorded.turn.session, text, SOURCE_NAME, _DETECTOR)
    with staging(None) as layer:
        fill(layer, units)
        layer.refresh_from_db()
        yield replace(
            view,
            chain=(layer.pk, *view.chain),
            shown=(layer.pk, *view.shown),
            evidence_count=view.evidence_count + layer.evidence_count,
            term_count=view.term_count + layer.term_count,
        )
        drop_staged(layer.pk)
