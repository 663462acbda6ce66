"""Wrappers of a few lines of Python, in the directories that an operator creates."""

import json
import sys
from pathlib import Path
from typing import Any

from mrpvm.wrappers.manifest import read_manifest
from mrpvm.wrappers.wrapper import Wrapper

ANSWERS = """
import json, sys
given = json.load(sys.stdin)
print("## Plugin Result\\n\\nStatus: success\\nPlugin: Calculator\\nConfidence: 0.9")
print("Result: It is 42.\\nEvidence: 6 * 7")
"""


def write_wrapper(root: Path, source: str = ANSWERS, *, called: str = "calculator", **fields: Any) -> Path:
    """Create a wrapper; return its directory."""
    directory = root / called
    directory.mkdir(parents=True)
    program = directory / "program"
    program.write_text(f"#!{sys.executable} -IS\n{source}")
    program.chmod(0o755)
    plain = {"id": called, "name": called.title(), "protocolVersion": 1, "command": "program", "keywords": ["product"]}
    (directory / "manifest.json").write_text(json.dumps(plain | fields))
    return directory


def wrapper(root: Path, source: str = ANSWERS, **fields: Any) -> Wrapper:
    """Return an admitted wrapper."""
    directory = write_wrapper(root, source, **fields)
    return Wrapper(read_manifest(directory), directory)
