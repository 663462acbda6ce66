"""How values and links look in lists and on pages."""

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from sessions_app.models import ExplainabilityTurn, KnowledgeBase, Session

SHOWN_CHARS = 65_536
"""How much of a payload a page shows; the rest is counted."""


def session_page(session: Session) -> str:
    """Return the address of the session's own page, empty where the server has none."""
    return _address("session", session.session_id)


def base_page(base: KnowledgeBase) -> str:
    """Return the address of the base's own page, empty where the server has none."""
    return _address("knowledge-base", base.kb_id)


def turn_page(turn: ExplainabilityTurn) -> str:
    """Return the address of the turn's own page, empty where the server has none."""
    return _address("turn", turn.session.session_id, turn.request_id)


def link(address: str, text: str) -> SafeString:
    """Return a link, or nothing without an address."""
    return format_html('<a href="{}">{}</a>', address, text) if address else SafeString("")


def row_link(row: Model | None) -> SafeString:
    """Return a link to the row's page in the admin."""
    return link(change_address(row), shortened(str(row))) if row else SafeString("")


def change_address(row: Model) -> str:
    """Return the address of the row's page in the admin."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def list_links(lists: Iterable[tuple[type[Model], str]], row: Model) -> SafeString:
    """Return links to the lists of what belongs to the row: `(model, its field that points at the row)` each."""
    return format_html_join(
        " · ",
        '<a href="{}?{}">{}</a>',
        (
            (
                reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"),
                urlencode({f"{field}__id__exact": row.pk}),
                model._meta.verbose_name_plural,
            )
            for model, field in lists
        ),
    )


def shortened(text: str | None, chars: int = 80) -> str:
    """Return the beginning of a text, with an ellipsis where it continues."""
    return Truncator(text or "").chars(chars)


def shown_json(value: Any) -> SafeString:
    """Return data as indented JSON, cut where it is too long."""
    return shown_text("" if value in (None, {}, []) else json.dumps(value, indent=2, ensure_ascii=False))


def shown_text(text: str) -> SafeString:
    """Return a text as it was written; says how much it leaves out."""
    if not text:
        return SafeString("–")
    rest = len(text) - SHOWN_CHARS
    note = format_html("<p>{} more characters are not shown.</p>", f"{rest:,}") if rest > 0 else ""
    return format_html('<pre class="payload" tabindex="0">{}</pre>{}', text[:SHOWN_CHARS], note)


def _address(name: str, *arguments: str) -> str:
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""
