"""Stored text of every kind on every page is shown only as text."""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from django.apps import apps
from django.db.models import CharField, Field, JSONField, Model, TextField
from selectolax.lexbor import LexborHTMLParser

from sessions_app.models import Project
from sessions_app.web.urls import urlpatterns
from tests.web.access_scene import MARK, Scene, add_scene
from tests.web.access_table import PAGES
from tests.web.page_scene import check_html, member_client

PLANTED = (
    "javascript:planted() \"'><i planted=1 onclick=planted()></i></textarea></title></style></pre>"
    "<script planted=1>planted()</script><!-- ]]> {{ 7|add:7 }} {% now 'Y' %} ${7*7} "
    "\u202eright to left \u2066 \x01\x1b[31m \x7f \ufeff \U000e0041 " + "W" * 300
)
SHORT = "\"'><i planted=1>"
"""For columns that hold less."""
KINDS = re.compile(
    r"(^|_)(id|slug|kind|status|state|role|type|step|store|digest|hash|name_key|api|act|prefix|version)$"
)
"""Columns whose text the server itself writes and compares."""


def free_texts(model: type[Model]) -> Iterator["Field[Any, Any]"]:
    """Return the columns of a model that hold free text of people, models or plugins."""
    for field in model._meta.concrete_fields:
        is_text = isinstance(field, CharField | TextField) and not field.choices and not field.unique
        if is_text and not KINDS.search(field.name):
            yield field


def planted_in(value: Any) -> Any:
    """Return JSON with the scene's mark and every sentence replaced."""
    if isinstance(value, dict):
        return {key: planted_in(item) for key, item in value.items()}
    if isinstance(value, list):
        return [planted_in(item) for item in value]
    return PLANTED if isinstance(value, str) and (MARK in value or " " in value) else value


def plant() -> int:
    """Write hostile text into every column of free text; return the number of changed values."""
    count = 0
    for model in apps.get_app_config("sessions_app").get_models():
        rows = model._base_manager
        for field in free_texts(model):
            room = field.max_length or len(PLANTED)
            count += bool(rows.update(**{field.attname: PLANTED if room >= len(PLANTED) else SHORT[:room]}))
        for field in model._meta.concrete_fields:
            if isinstance(field, JSONField):
                for row in rows.all():
                    rows.filter(pk=row.pk).update(**{field.attname: planted_in(getattr(row, field.attname))})
    return count


@pytest.fixture
def scene(project: Project) -> Scene:
    made = add_scene(project)
    assert plant() > 60
    return made


def alive(html: str) -> list[str]:
    """Return the planted text that a browser would parse as markup or run."""
    page = LexborHTMLParser(html)
    found = [node.html or "" for node in page.css("[planted], [onclick]")]
    for node in page.css("[href], [src], [action], [formaction]"):
        links = (node.attributes.get(name) or "" for name in ("href", "src", "action", "formaction"))
        found += [link for link in links if re.match(r"[\x00-\x20]*(javascript|data|vbscript):", link, re.IGNORECASE)]
    return found


def test_no_planted_text_comes_alive_on_any_page(scene: Scene) -> None:
    client = member_client(scene.project)
    shown: set[str] = set()
    wrong: dict[str, object] = {}
    pictures: list[str] = []
    for pattern in urlpatterns:
        name = str(pattern.name)
        if name not in PAGES or not PAGES[name].reads:
            continue
        answer = client.get(scene.address(pattern))
        if answer.status_code not in (200, 302):
            wrong[name] = answer.status_code
        elif answer["Content-Type"].startswith(("text/html", "image/svg+xml")) and answer.status_code == 200:
            if "svg" in answer["Content-Type"]:
                pictures.append(name)
                ElementTree.fromstring(answer.text)  # noqa: S314 (our own template, well-formed)
            else:
                check_html(answer.text)
            if found := alive(answer.text):
                wrong[name] = found
            if "planted" in answer.text:
                shown.add(name)
    assert wrong == {}
    assert pictures
    assert len(shown) > 30, sorted(shown)


def test_the_look_at_pages_sees_what_is_alive() -> None:
    assert len(alive(f"<p>{PLANTED}</p>")) >= 2
    assert alive(f"<p title='{SHORT}'>x</p>")
    assert alive("<a href=' javascript:planted()'>x</a>")
