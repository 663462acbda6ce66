"""MediaWiki exports: pages as headings with what a reader sees of them."""

import pytest

from mrpvm.errors import InvalidInput, Unreadable
from mrpvm.sources.documents.reading import read_document
from tests.sources.office_files import mediawiki

PAGE = """{{Infobox town|Elm|name=Elm|mayor=[[Ida Holm]]|area=}}{{Short description|x}}
'''Elm''' is a [[town (place)|town]] in [[Norland]]<ref>Some book.</ref>.<!-- hidden --> It has {{convert|12|km|mi}} of
coast &amp; sells <i>fish & bread</i>.

== History of <nowiki>Elm</nowiki> ==
See [http://x.example the site]. [[File:x.png|thumb|A picture]]
* Founded '''1204'''
** by monks
# burnt
#* twice
# rebuilt
{| class="wikitable"
! Year !! People
|-
| 1900 || 1,000
|}
; Term
: its meaning
: another
; Pair : in one line
:only indented
=== Old ===
<syntaxhighlight lang="c">a  [[b]]</syntaxhighlight>
[[Category:Towns]]
<script>alert(1)</script>"""


def test_a_page_is_read_as_its_readers_see_it() -> None:
    lines = read_document(mediawiki(("Elm & Ash", PAGE)), "dump.xml").text.split("\n")
    assert [line for line in lines if line] == [
        "# Elm & Ash", "|  |  |", "| --- | --- |", "| name | Elm |", "| mayor | Ida Holm |",
        "Elm is a town in Norland. It has 12 km of coast & sells fish & bread.",
        "## History of Elm", "See the site.", "- Founded 1204", "- by monks", "1. burnt", "2. twice", "3. rebuilt",
        "| Year | People |", "| --- | --- |", "| 1900 | 1,000 |",
        "Term: its meaning", "Term: another", "Pair: in one line", "Pair: only indented",
        "### Old", "```", "a  [[b]]", "```",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("space", "is_read"), [(0, True), (1, False), (4, True), (10, False), (14, False), (15, False)]
)
def test_pages_about_the_wiki_itself_are_left_out(space: int, is_read: bool) -> None:
    data = mediawiki(("Elm", "A town."), space=space)
    if is_read:
        assert read_document(data, "a.xml").text == "# Elm\n\nA town."
        return
    with pytest.raises(InvalidInput, match="There is no content"):
        read_document(data, "a.xml")


def test_a_page_that_leads_to_another_is_left_out() -> None:
    with pytest.raises(InvalidInput, match="There is no content"):
        read_document(mediawiki(("Elm", "#REDIRECT [[Ash]]"), extra='<redirect title="Ash"/>'), "a.xml")


def test_damaged_exports_are_refused_with_the_line() -> None:
    with pytest.raises(Unreadable, match="line 3 is no XML") as refused:
        read_document(b"<mediawiki>\n<page>\n<title></page>", "a.xml")
    assert refused.value.code == "SOURCE_UNREADABLE"


def test_an_entity_reads_no_file_and_expands_to_little() -> None:
    fetched = b'<!DOCTYPE m [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
    page = b"<page><title>Elm</title><revision><text>A&e; town.</text></revision></page></mediawiki>"
    with pytest.raises(Unreadable, match="is no XML"):
        read_document(b"<?xml version='1.0'?>" + fetched + b"<mediawiki>" + page, "a.xml")
    laughs = "".join(f'<!ENTITY a{depth} "{f"&a{depth - 1};" * 10}">' for depth in range(1, 10))
    bomb = f'<!DOCTYPE m [<!ENTITY a0 "ha">{laughs}<!ENTITY e "&a9;">]>'.encode()
    with pytest.raises(Unreadable, match="is no XML"):
        read_document(b"<mediawiki>".join([bomb, page]), "a.xml", "application/xml")
