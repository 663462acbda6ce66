"""YAML between `---` lines and the Markdown after it, as skill and persona files have it.

Scalars are read as the texts they are written as: `os: [no]` names a system called no, and a date stays a date's text.
Aliases are refused, because a small file with them can represent a huge one; a key that comes twice is refused, because
one of the two would be lost silently.
"""

from collections.abc import Hashable
from typing import Any

import yaml

from mrpvm.errors import InvalidInput
from mrpvm.plain_yaml import PlainLoader, load_plain

FRONT_MATTER_CHARS = 16_384
"""How much front matter is read; more is refused."""
_FENCE = "---"
_NULL = "tag:yaml.org,2002:null"


class MalformedText(InvalidInput):
    """The file does not hold what a file of its kind holds."""


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the mapping of the front matter and the trimmed body; without front matter the whole text is the body.

    Raises:
        MalformedText: no closing line, invalid YAML, or YAML that is no mapping.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != _FENCE:
        return {}, text.removeprefix("\ufeff").strip()
    for place, line in enumerate(lines[1:], start=1):
        if line.strip() == _FENCE:
            return read_mapping("\n".join(lines[1:place])), "\n".join(lines[place + 1 :]).strip()
    raise MalformedText("Invalid frontmatter: missing closing delimiter")


def read_mapping(text: str) -> dict[str, Any]:
    """Return the mapping that a YAML text states; an empty text is an empty one.

    Raises:
        MalformedText: it states something else, or nothing that can be read.
    """
    if len(text) > FRONT_MATTER_CHARS:
        raise MalformedText(f"Invalid frontmatter: {len(text)} characters; {FRONT_MATTER_CHARS} are allowed")
    try:
        value = load_plain(text, _TextLoader)
    except yaml.YAMLError as error:
        raise MalformedText(f"Invalid frontmatter: {_on_one_line(error)}") from None
    except ValueError as error:
        raise MalformedText(f"Invalid frontmatter: not readable ({type(error).__name__})") from None
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise MalformedText("Invalid frontmatter: expected a YAML mapping/object")
    return value


def text_of(fields: dict[str, Any], name: str) -> str:
    """Return a field's trimmed text, empty when it is missing or null.

    Raises:
        MalformedText: it is a list or mapping.
    """
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedText(f"Invalid frontmatter: {name} must be a text")
    return value.strip()


def texts_of(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    """Return a field's list of texts in its order, each once; empty when it is missing or null.

    Raises:
        MalformedText: it is no list of texts.
    """
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise MalformedText(f"Invalid frontmatter: {name} must be a list of texts")
    return tuple(dict.fromkeys(item.strip() for item in value))


def mapping_of(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a field's mapping; empty when it is missing or null.

    Raises:
        MalformedText: it is something else.
    """
    value = fields.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise MalformedText(f"Invalid frontmatter: {name} must be a mapping")
    return value


class _TextLoader(PlainLoader):
    """Knows texts and null alone, and refuses repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if not all(isinstance(key, Hashable) for key in keys):
            raise yaml.YAMLError("a key must be a text")
        repeated = next((key for place, key in enumerate(keys) if key in keys[:place]), None)
        if repeated is not None:
            raise yaml.YAMLError(f"the key {repeated!r} comes twice")
        return super().construct_mapping(node, deep)


_TextLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag == _NULL]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _on_one_line(error: yaml.YAMLError) -> str:
    """Return what is wrong and where, counted from the first line of the YAML."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem and error.problem_mark:
        return f"{' '.join(error.problem.split())[:300]} (line {error.problem_mark.line + 1})"
    return " ".join(str(error).split())[:300]
