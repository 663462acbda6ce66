"""Numbers that a request asks by: a row's key, a turn's index, a place in a list."""


def whole_number(text: str | None) -> int | None:
    """Return the number of a request's parameter, None for anything that is none or that no row can have."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else None
