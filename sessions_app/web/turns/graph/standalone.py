"""The graph as a self-contained file: it includes its colours, those of the light theme."""

import re
from functools import cache
from pathlib import Path

from django.conf import settings
from django.utils.safestring import SafeString

from sessions_app.web.turns.graph.markup import element

_PAIR = re.compile(r"light-dark\(([^()]*(?:\([^()]*\))?[^()]*),\s*[^()]*(?:\([^()]*\))?[^()]*\)")
_VARIABLE = re.compile(r"--([\w-]+):\s*([^;]+);")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_USED = re.compile(r"^\s*\.(?:status-|graph|frame|node|mark|port|sign|edge|arrow|toggle)")


def standalone(svg: SafeString) -> bytes:
    """Return the SVG as a file with its own style sheet."""
    style = element("style", {}, SafeString(_style()))
    opened, rest = svg.split(">", 1)
    ground = element("rect", {"width": "100%", "height": "100%", "class": "paper"})
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opened}>{style}{ground}{rest}'.encode()


@cache
def _style() -> str:
    """Return the rules of the pages' style sheets that the picture uses, with the light colour of every pair."""
    folder = Path(settings.BASE_DIR) / "static" / "css"
    tokens = (folder / "tokens.css").read_text(encoding="utf-8")
    rules = _RULE.findall(_plain((folder / "turns/graph.css").read_text(encoding="utf-8")))
    tones = [rule for rule in _RULE.findall(_plain(tokens)) if _USED.match(rule[0])]
    variables = "".join(
        f"--{name}:{_PAIR.sub(_light, value)};" for name, value in _VARIABLE.findall(tokens.split("}")[0])
    )
    kept = [f"{names.strip()}{{{body.strip()}}}" for names, body in (*tones, *rules) if _USED.match(names)]
    # A file has no controls, such as those that collapse a frame.
    return f"svg{{{variables}}}.paper{{fill:var(--ground)}}.frame-toggle{{display:none}}" + "".join(kept)


def _plain(css: str) -> str:
    """Return a style sheet without comments and without conditional rules."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"@[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", css)


def _light(pair: "re.Match[str]") -> str:
    return pair[1].strip()
