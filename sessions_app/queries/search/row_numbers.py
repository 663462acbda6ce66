"""Numbers in requests: a row's key, a turn's index, a place in a list."""


def whole_number(text: str | None) -> int | None:
    """Return a request's parameter as a number, or None if it is not one or too large for a row."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else None
