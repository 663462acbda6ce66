"""Evidence: files cut into chunks that a session can cite, beside what it was told to remember."""

CHUNK_CHARS, OVERLAP_CHARS = 360, 40


def chunks_of(text: str) -> tuple[str, ...]:
    """Return the chunks of a text, each beginning with the last characters of the one before; none for blanks."""
    whole = text.strip()
    step = CHUNK_CHARS - OVERLAP_CHARS
    starts = range(0, max(1, len(whole) - OVERLAP_CHARS), step) if whole else ()
    return tuple(whole[start : start + CHUNK_CHARS] for start in starts)


def citation_of(file: str, number: int) -> str:
    """Return what a chunk is called; the first has the number 1."""
    return f"{file}#chunk-{number}"


def file_of(citation: str) -> str:
    """Return the file that a citation names."""
    return citation.rpartition("#chunk-")[0]
