"""What reading a damaged ZIP archive raises."""

import lzma
import struct
import zipfile
import zlib

# The standard library wraps none of what its decompressors raise; `ValueError` is malformed JSON or text inside.
DAMAGED_ARCHIVE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
