"""Adding files to a base on its page without JavaScript."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from mrpvm.sources.documents.document import ENDINGS, FORMATS
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.models import KnowledgeBase, KnowledgeLayer, Project
from sessions_app.queries.knowledge import bases as knowledge
from tests.actions.knowledge_scene import add_text, held
from tests.layers.units import make_unit
from tests.web.page_scene import check_html, member_client, notice, parsed, texts_of


@pytest.fixture
def admin(project: Project) -> Client:
    return member_client(project)


def address_of(base: KnowledgeBase) -> str:
    return reverse("knowledge-base", args=[base.kb_id])


def test_a_file_becomes_a_source(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    address = reverse("knowledge-upload", args=[base.kb_id])
    file = SimpleUploadedFile("pumps.md", b"# Pumps\n\nThe pump of pier four is blue.", "text/markdown")
    html = admin.post(address, {"file": file}, follow=True).text
    assert notice(html) == "“pumps.md” gave 1 unit."
    assert "pumps.md" in texts_of(html, "a")
    long_name = SimpleUploadedFile(f"{'n' * 200}.md", b"A pump is blue.")
    for data in ({}, {"file": SimpleUploadedFile("x.md", b"\x00\x01\xff\xfe binary \x00")}, {"file": long_name}):
        refused = admin.post(address, data)
        assert refused["Location"] == f"{address_of(base)}#upload-status"  # which can be reloaded
        html = admin.get(address_of(base)).text
        check_html(html)
        assert parsed(html).css(".field__error")
        assert not parsed(admin.get(address_of(base)).text).css(".field__error")
    base.refresh_from_db()
    assert (base.revision, base.source_count) == (2, 1)


def test_the_page_says_which_files_become_sources(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    page = parsed(admin.get(address_of(base)).text)
    (chosen,) = page.css("form[data-upload] input[type=file]")
    endings = str(chosen.attributes["accept"]).split(", ")
    assert [ending for ending in endings if ending.startswith(".")] == list(ENDINGS)
    for word in ("DOCX", "XLSX", "CSV", "JSON", "MediaWiki"):
        assert word in str(chosen.attributes["aria-label"])
        assert word in page.css_first(".upload__hint").text()
    nothing = admin.post(reverse("knowledge-upload", args=[base.kb_id]), follow=True).text
    assert f"Choose a file of {FORMATS}." in texts_of(nothing, ".field__error")


def test_a_file_takes_the_place_of_a_source(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    add_text(base, "pumps.md", "Old", [make_unit("p::0", "The pump is blue.", source_id="pumps")], source_id="pumps")
    address = reverse("knowledge-upload", args=[base.kb_id])
    broken = {"file": SimpleUploadedFile("x.md", b"\x00\xff binary"), "source_id": "pumps"}
    refused = admin.post(address, broken, follow=True)
    assert parsed(refused.text).css('option[value="pumps"][data-name="pumps.md"][selected]')
    file = SimpleUploadedFile("new.md", b"The pump of pier four is red.", "text/markdown")
    html = admin.post(address, {"file": file, "source_id": "pumps"}, follow=True).text
    check_html(html)
    base.refresh_from_db()
    assert [(source.source_id, source.name) for source in knowledge.sources(base)] == [("pumps", "new.md")]
    assert held(base, "pump") == ["The pump of pier four is red."]
    elsewhere = admin.post(address, {"file": file, "source_id": "a/../b"}, follow=True)
    assert parsed(elsewhere.text).css(".field__error")


def test_a_file_that_is_there_already_makes_no_revision(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    address, text = reverse("knowledge-upload", args=[base.kb_id]), b"# Pumps\n\nThe pump of pier four is blue."

    def sent(name: str, data: bytes, **more: str) -> tuple[str, int]:
        html = admin.post(address, {"file": SimpleUploadedFile(name, data), **more}, follow=True).text
        base.refresh_from_db()
        return html, base.revision

    sent("pumps.md", text)
    place = knowledge.sources(base)[0].source_id
    layers = KnowledgeLayer.objects.count()
    html, revision = sent("pumps.md", text, source_id=place)
    assert notice(html) == "“pumps.md” is already there, unchanged."
    assert (revision, KnowledgeLayer.objects.count()) == (2, layers)
    assert sent("new-name.md", text, source_id=place)[1] == 3
    assert sent("new-name.md", text.replace(b"blue", b"red"), source_id=place)[1] == 4
