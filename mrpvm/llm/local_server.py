"""The program of the local model's process: llama.cpp's own OpenAI-compatible server, for as long as its parent lives.

Standard input holds one line of JSON (`path`, `name`, `port`, `api_key`) and is then held open: the process ends with
it, so that no server which was killed leaves one behind. Standard output gets one line: `url`, or `error`.
"""

import json
import os
import sys
import threading

CONTEXT_TOKENS = 8_192
"""What SmolLM2 was trained for; requests that run at once share it."""
MOST_REQUESTS = 4
ANSWER_TOKENS = 128
"""Most tokens of an answer whose request sets no limit: small models may repeat themselves without end."""
NICENESS = 5
"""The turns of the server come first."""


def main() -> None:
    """Serve until standard input ends."""
    options = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(NICENESS)
    try:
        said = {"url": _served(options["path"], options["name"], options["port"], options["api_key"])}
    except Exception as error:
        said = {"error": str(error) or type(error).__name__}
    print(json.dumps(said), flush=True)
    if "error" not in said:
        threading.Event().wait()


def _served(path: str, name: str, port: int, api_key: str) -> str:
    """Load the model and serve it on the loopback interface; return where."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {name}
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], port, [api_key]
    params.ui = params.endpoint_slots = params.endpoint_props = False
    params.n_ctx, params.n_parallel, params.kv_unified = CONTEXT_TOKENS, MOST_REQUESTS, True
    params.n_predict = ANSWER_TOKENS
    params.verbosity = 0
    # Threads wait for each other at every layer: one more than there are free cores makes all of them slow.
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = max(1, (os.process_cpu_count() or 1) // 2)
    global _server
    _server = xllamacpp.Server(params)
    return f"{_server.listening_address}/v1"


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


_server = None
"""Held, because it stops when nothing refers to it."""

if __name__ == "__main__":
    main()
