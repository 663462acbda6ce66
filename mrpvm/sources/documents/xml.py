"""Elements of an XML file of unknown origin. The parser fetches nothing and bounds what entities expand to."""

from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree

Element = ElementTree.Element


def elements(file: IO[bytes]) -> Iterator[tuple[str, Element]]:
    """Return each element, when it ends, with its name without the namespace."""
    for _, element in ElementTree.iterparse(file):  # noqa: S314 (the limits of expat and of the reading process hold)
        yield element.tag.rpartition("}")[2], element
