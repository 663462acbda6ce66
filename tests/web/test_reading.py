"""GET requests change nothing, since a link or image on another server's page can request any address."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver

from sessions_app.models import Project
from tests.web.access_scene import add_scene
from tests.web.page_scene import member_client
from tests.web.test_access_table import FIELDS

WRITES = re.compile(r"\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+\"?(\w+)|\s*WITH\b.*\b(?:INSERT|UPDATE|DELETE)\b", re.I)
EXPORTS = {"turn-export", "export", "session-bundle", "turns-export", "audit-export", "suite-file"}
"""The names of the addresses whose answer is a file; that somebody took it is in the audit log."""
WITHOUT_PARAMETERS = re.compile(r"\w+_(?:change|delete|history)$")
"""The names of the admin's pages that read no parameters."""
ACTS = {"login-link", "ready"}  # the first logs in; the second writes a row and rolls it back


def test_no_get_changes_anything(project: Project) -> None:
    scene = add_scene(project)
    client = member_client(project, "admin", "chief")
    User.objects.filter(username="chief").update(is_staff=True, is_superuser=True)
    client.get("/")
    ids = {
        **scene.ids, "object_id": "1", "invitation_id": scene.ids["key"], "response_id": scene.ids["request_id"],
        "conversation_id": scene.session_id, "item_id": "1", "secret": "unknown", "address": "knowledge",
        "app_label": "auth", "content_type_id": "1", "url": "x",
    }  # fmt: skip
    written: list[tuple[str, str, str]] = []
    name = path = ""

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if found := WRITES.match(sql):
            written.append((name, path, found[1]))
        return execute(sql, params, many, context)

    count = 0
    with connection.execute_wrapper(note):
        for pattern, path in addresses(get_resolver().url_patterns, ids):
            name = str(pattern.name)
            for parameters in ({}, dict.fromkeys(FIELDS, "1")):
                if not (parameters and WITHOUT_PARAMETERS.match(name)):
                    client.get(path, parameters, headers={"HX-Request": "true"})
                    count += 1
    assert count > 600
    assert [one for one in written if one[0] not in EXPORTS or one[2] != "sessions_app_auditentry"] == []


def addresses(
    patterns: Sequence[URLPattern | URLResolver], ids: dict[str, str], before: str = "/"
) -> Iterator[tuple[URLPattern, str]]:
    """Yield every pattern of the URL configuration with a matching address; each variable needs an id."""
    for pattern in patterns:
        path = before + re.sub(r"<\w+:(\w+)>", lambda match: ids[match[1]], str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, ids, path)
        elif pattern.name not in ACTS and "(" not in path:
            yield pattern, path
