"""Text files: which characters their bytes represent."""

import codecs
import re
from itertools import groupby

from mrpvm.errors import Unreadable

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark is a prefix of this one
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.IGNORECASE)
_OF_PYTHON = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Codecs that no file is written in; some take a time that grows with the square of the file."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")
_COMMENTS_LEAST = 3
"""So many lines in succession that begin with one "#" are no headings."""
_RULED = 4
"""A title between lines or rows of at least so many "#" heads what follows."""


def decoded(data: bytes, declared: str | None = None) -> str:
    """Return the characters: by byte order mark, else by the charset that the declaration names, else as UTF-8.

    Raises:
        Unreadable: the bytes are not what they should be, with the place of the first that is not; nothing is guessed.
    """
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return _decode(data[len(mark) :], encoding)
    named = charset_in(declared or "")
    return _decode(data, named or "utf-8")


def charset_in(declaration: str) -> str | None:
    """Return the charset that a Content-Type or a meta element names."""
    match = _CHARSET.search(declaration)
    return match[1] if match else None


def cleaned(text: str) -> str:
    """Return the text with lines that end in a line feed, and without characters that no database stores."""
    return _CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n"))


def uncommented(text: str) -> str:
    """Return a plain text whose comments, if it has any, are its prose: a configuration file explains itself in them.

    A text has comments if some lines in succession begin with one `#`. A title within a row of `#` becomes a heading.
    What is set below a comment belongs to it: "Seconds until a login fails: LOGIN_TIMEOUT 60".
    """
    runs = [(is_comment, list(run)) for is_comment, run in groupby(text.split("\n"), key=_is_comment)]
    counts = (sum(not line.lstrip().startswith("##") for line in run) for is_comment, run in runs if is_comment)
    if not any(count >= _COMMENTS_LEAST for count in counts):
        return text
    read: list[str] = []
    for is_comment, run in runs:
        if is_comment:
            read += "\n".join(map(_said, run)).rstrip().split("\n")
            continue
        if run[0].strip() and read and read[-1][-1:].isalnum():
            read[-1] += ":"
        read += [part for line in run for part in (line, "")]
    return "\n".join(read)


def _said(comment: str) -> str:
    said, line = comment.strip(" \t#"), comment.strip()
    is_title = said and line.startswith("#" * _RULED) and line.endswith("#")
    return f"\n# {said}\n" if is_title else said


def _is_comment(line: str) -> bool:
    return line.lstrip(" \t").startswith("#")


def _decode(data: bytes, encoding: str) -> str:
    try:
        if codecs.lookup(encoding).name in _OF_PYTHON:
            raise LookupError
        return data.decode(encoding)
    except LookupError:
        raise Unreadable(f"The text's encoding '{encoding}' is not known.", details={"encoding": encoding}) from None
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"The text is not {encoding}: byte {error.start} does not fit. Save it as UTF-8, or name its charset.",
            details={"encoding": encoding, "byte": error.start},
        ) from None
