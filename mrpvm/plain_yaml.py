"""A YAML loader for untrusted files: texts, booleans, decimal numbers, null, lists and mappings alone."""

import yaml

_KNOWN = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


class PlainLoader(yaml.SafeLoader):
    """Refuses tags, and aliases, by which a small file can represent a huge one.

    Dates stay texts. Numbers are decimal: those of base 60, which YAML 1.1 has, take quadratic time to read.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "tag", None) is not None:
            raise yaml.YAMLError("tags are not allowed")
        return super().compose_node(parent, index)


PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in _KNOWN]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
PlainLoader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))
PlainLoader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))
