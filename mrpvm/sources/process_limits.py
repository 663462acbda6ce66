"""Bounds of the reading process; constants, because they stop hostile files and ordinary files never reach them."""

MEMORY_BYTES = 1024 * 1024 * 1024
"""Address space of one reading process."""
READING_CPU_SECONDS = 60
"""CPU time in which a file must have become text; cutting and normalising it has the time of the whole ingest."""
NICENESS = 5
"""Niceness of the process, so that turns get the processor first."""
LINE_CHARS = 1_000_000
"""Most characters of a line; a longer one is data of some other kind."""
OUTPUT_BYTES = 512 * 1024 * 1024
"""What a reading process may write: the text and its units, with room for the largest source."""
UNPACKED_BYTES = 128 * 1024 * 1024
"""What the parts of an office file may unpack to."""
XML_ELEMENTS, XML_ATTRIBUTES, XML_CHARS = 500_000, 2_000_000, 20_000_000
"""What the XML parts of a DOCX may hold in all; a book of a thousand pages has fewer. Each element takes some 30 µs."""
