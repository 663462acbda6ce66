"""The conformance suite for wrappers passes a correct one and reports each violation."""

from pathlib import Path
from typing import Any

import pytest

from mrpvm.testing import check_wrapper
from mrpvm.testing.conformance import NotConforming
from mrpvm.wrappers.manifest import InvalidManifest
from tests.wrappers.programs import write_wrapper

DECENT = """
import json, sys
try:
    given = json.load(sys.stdin)
    prompt = given["prompt"] + ""
except Exception as error:
    print(json.dumps({"code": "INVALID_INPUT", "message": type(error).__name__, "details": {}}), file=sys.stderr)
    sys.exit(2)
print("## Plugin Result\\n\\nStatus: success\\nPlugin: Counter\\nConfidence: 1")
print("Result:", len(prompt))
"""


def decent(root: Path, source: str = DECENT, **fields: Any) -> Path:
    directory = write_wrapper(root, source, **fields)
    (directory / "README.md").write_text("Counts characters.")
    return directory


def test_a_decent_one_passes(tmp_path: Path) -> None:
    check_wrapper(decent(tmp_path))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("sys.exit(2)", "sys.exit(1)"), "exit code 2"),
        (("file=sys.stderr", "file=sys.stdout"), "JSON on stderr"),
        (("Confidence: 1", "Confidence:"), "no Confidence"),
        (("import json, sys", "import json, sys, os; os._exit(9)"), "exit codes are 0 to 3"),
        (("import json, sys", "import json, sys, time; time.sleep(600)"), "in time"),
    ],
)
def test_a_broken_promise_is_noticed(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    with pytest.raises(NotConforming, match=told):
        check_wrapper(decent(tmp_path, DECENT.replace(*change), timeout=400 if "sleep" in change[1] else 30_000))


def test_what_has_to_come_with_it(tmp_path: Path) -> None:
    with pytest.raises(NotConforming, match="README"):
        check_wrapper(write_wrapper(tmp_path, DECENT))
    with pytest.raises(NotConforming, match="keywords"):
        check_wrapper(decent(tmp_path, called="mute", keywords=[]))
    with pytest.raises(InvalidManifest):
        check_wrapper(decent(tmp_path, called="odd", protocolVersion=3))
