"""YAML of untrusted files: texts, booleans, decimal numbers, null, lists and mappings alone."""

from typing import Any

import yaml

_DEEPEST = 100
"""How deep lists and mappings may be nested: libyaml's reader uses the stack of its thread, and no limit of its own."""
_KNOWN = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


class PlainLoader(yaml.CSafeLoader):
    """A loader for `load_plain`.

    Dates stay texts. Numbers are decimal: those of base 60, which YAML 1.1 has, take quadratic time to read.
    """


PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in _KNOWN]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
PlainLoader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))
PlainLoader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))


def load_plain(text: str, loader: type[PlainLoader] = PlainLoader, *, most_values: int | None = None) -> Any:
    """Return what a text holds.

    Args:
        most_values: how many keys, texts, numbers, lists and mappings it may hold; any number when None.

    Raises:
        yaml.YAMLError: it is no YAML, has a tag, or an alias, by which a small file can represent a huge one, is nested
            too deep, or holds too many values.
        ValueError: a number is none.
    """
    value_count = depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        if getattr(event, "tag", None) is not None:
            raise yaml.YAMLError("tags are not allowed")
        value_count += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise yaml.YAMLError(f"it is nested more than {_DEEPEST} deep")
        if most_values is not None and value_count > most_values:
            raise yaml.YAMLError(f"it holds more than {most_values} keys and values")
    return yaml.load(text, Loader=loader)  # noqa: S506 (a safe loader)
