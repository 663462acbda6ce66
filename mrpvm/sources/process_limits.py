"""Bounds of the reading process; constants, because they guard against hostile files and no honest one meets them."""

MEMORY_BYTES = 1024 * 1024 * 1024
"""Address space of one reading process."""
READING_CPU_SECONDS = 60
"""CPU time in which a file must have become text; cutting and normalising it has the time of the whole ingest."""
NICENESS = 5
"""How far the process stands back when others want the processor: those who chat meanwhile come first."""
LINE_CHARS = 1_000_000
"""What a line of text may have: one of millions of characters is data of some other kind."""
OUTPUT_BYTES = 512 * 1024 * 1024
"""What a reading process may write: the text and its units, with room for the largest source."""
