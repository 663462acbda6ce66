"""The conformance suite of external programs: started as they would be, with good and bad input."""

import json
from pathlib import Path

from mrpvm.knowledge.payload import ResolvedPayload
from mrpvm.processes import ProcessLimits, run_process
from mrpvm.testing.conformance import ODD_MESSAGES, expect
from mrpvm.testing.ports import call_context
from mrpvm.wrappers.manifest import WrapperManifest, read_manifest
from mrpvm.wrappers.wrapper import ENVIRONMENT, OUTPUT_BYTES, Wrapper

_BAD_INPUTS = (b"", b"{", b"[]", b'"text"', b"\xff\xfe", b'{"prompt": 1}')
_BROKEN = ("PLUGIN_CONTRACT_VIOLATION", "PLUGIN_TIMEOUT", "PLUGIN_OUTPUT_TOO_LARGE")


def check_wrapper(directory: Path) -> None:
    """Run the wrapper in a directory through its contract.

    Raises:
        NotConforming: with the promise that was broken.
        InvalidManifest: the manifest is not acceptable.
    """
    manifest = read_manifest(directory)
    expect(any(directory.glob("README*")), "a wrapper comes with a README [PLUGIN-33]")
    expect(bool(manifest.capabilities or manifest.keywords), "capabilities or keywords say when to ask it [PLUGIN-36]")
    wrapper = Wrapper(manifest, directory)
    for message in ODD_MESSAGES:
        payload: ResolvedPayload = {"prompt": f"[explain] {message}\nExpected output: answer", "context": []}
        helped = wrapper.help(1, payload, call_context())
        code = helped.error.code if helped.error is not None else ""
        reason = helped.error.message if helped.error is not None else ""
        expect(code not in _BROKEN, f"every input gets a result or an error, in time [PLUGIN-38]: {reason}")
        expect("signal" not in reason and "exit code" not in reason, f"exit codes are 0 to 3 [PLUGIN-39]: {reason}")
    for bad in _BAD_INPUTS:
        _check_bad(manifest, directory, bad)


def _check_bad(manifest: WrapperManifest, directory: Path, bad: bytes) -> None:
    ended = run_process(
        [manifest.command, *manifest.args],
        bad,
        ProcessLimits(timeout_ms=manifest.timeout_ms, output_bytes=OUTPUT_BYTES),
        directory=directory,
        environment=ENVIRONMENT,
    )
    expect(
        ended.exit_code == 2,
        f"input that is no document of the protocol ends with exit code 2 [PLUGIN-39]: {bad!r}",
    )
    try:
        error = json.loads(ended.errors.decode().strip().partition("\n")[0])
    except ValueError:
        error = None
    expect(
        isinstance(error, dict) and {"code", "message"} <= set(error),
        "an error is one line of JSON on stderr [PLUGIN-38]",
    )
