"""The id by which clients continue from a turn, the same in both APIs."""

_START = "resp_"


def response_id(request_id: str) -> str:
    """Return a turn's id as a response's."""
    return f"{_START}{request_id.removeprefix('req-')}"


def request_id_of(response: str) -> str:
    """Return the turn's own id; of anything else a text that names no turn."""
    return f"req-{response.removeprefix(_START)}" if response.startswith(_START) else ""
