"""What a wrapper is given and what it may say."""

import json
import re

from mrpvm.conversation.helping import HelperOutput
from mrpvm.errors import TurnFailed
from mrpvm.knowledge.payload import ResolvedPayload
from mrpvm.processes import Finished

_HEADING = re.compile(r"^##[ \t]+Plugin Result[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"^(Status|Plugin|Confidence|Result|Evidence):[ \t]*", re.MULTILINE)
_MEANING = {1: "it could not do it", 2: "it does not accept the input", 3: "it ran out of time"}
_MESSAGE_CHARS = 500


class WrapperFailed(TurnFailed):
    """A wrapper that gave no result; never the end of a turn."""

    default_code = "PLUGIN_ERROR"
    module = "plugins"


def given(payload: ResolvedPayload, limit_bytes: int) -> bytes:
    """Return the one JSON object that a wrapper reads.

    Raises:
        WrapperFailed: PLUGIN_INPUT_TOO_LARGE.
    """
    document = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
    if len(document) > limit_bytes:
        raise WrapperFailed(
            f"its input would have {len(document)} bytes, and it takes {limit_bytes}.", code="PLUGIN_INPUT_TOO_LARGE"
        )
    return document


def read_result(finished: Finished, intent_ref: int, name: str) -> HelperOutput:
    """Return what a wrapper that has ended said.

    Raises:
        WrapperFailed: PLUGIN_TIMEOUT, PLUGIN_OUTPUT_TOO_LARGE, PLUGIN_ERROR, or PLUGIN_CONTRACT_VIOLATION for output
            that is not what the protocol says.
    """
    if finished.outcome in ("timed-out", "stopped"):
        raise WrapperFailed("it did not answer in time and was ended.", code="PLUGIN_TIMEOUT")
    if finished.outcome == "flooded":
        raise WrapperFailed("it wrote more than it may and was ended.", code="PLUGIN_OUTPUT_TOO_LARGE")
    if finished.exit_code != 0:
        code = finished.exit_code or 0
        meaning = _MEANING.get(code, f"it ended with {'signal' if code < 0 else 'exit code'} {abs(code)}")
        raise WrapperFailed(
            f"{meaning}{_reported(finished.errors)}.", code="PLUGIN_TIMEOUT" if code == 3 else "PLUGIN_ERROR"
        )
    fields = _fields(finished.output)
    if fields.get("Status") == "error":
        said = fields.get("Result") or "it reports an error"
        raise WrapperFailed(f"{said}{_reported(finished.errors)}"[:_MESSAGE_CHARS].rstrip(".") + ".")
    missing = [key for key in ("Confidence", "Result") if not fields.get(key)]
    if fields.get("Status") != "success" or missing:
        what = f"its result has no {' and no '.join(missing)}." if missing else "its result has no status."
        raise WrapperFailed(what, code="PLUGIN_CONTRACT_VIOLATION")
    return HelperOutput(
        intent_ref=intent_ref,
        plugin=fields.get("Plugin") or name,
        status="success",
        result=fields["Result"],
        confidence=fields["Confidence"],
        evidence=fields.get("Evidence", ""),
    )


def _fields(output: bytes) -> dict[str, str]:
    """Return the named parts below the heading; a part continues until the next begins."""
    try:
        text = output.decode("utf-8").replace("\0", "")
    except UnicodeDecodeError:
        raise WrapperFailed("its output is not UTF-8.", code="PLUGIN_CONTRACT_VIOLATION") from None
    heading = _HEADING.search(text)
    if heading is None:
        raise WrapperFailed("its output has no '## Plugin Result'.", code="PLUGIN_CONTRACT_VIOLATION")
    _, *parts = _FIELD.split(text[heading.end() :])
    return {name: value.strip() for name, value in zip(parts[::2], parts[1::2], strict=True)}


def _reported(errors: bytes) -> str:
    """Return what the first line of its errors says, if it is a JSON object with a message."""
    try:
        error = json.loads(errors.decode("utf-8").strip().partition("\n")[0])
        code, message = str(error.get("code") or ""), str(error["message"])
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return ""
    return f": {f'{code}: ' if code else ''}{message}"[:_MESSAGE_CHARS].rstrip(".")
