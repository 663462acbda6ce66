"""Request bodies: one JSON object in UTF-8, decoded whole, or a form with one file."""

import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, MultiPartParser

from mrpvm.errors import TooLarge
from mrpvm.llm.storable import is_storable
from mrpvm.preview import size_words
from mrpvm.wire import JSONObject


class JSONObjectParser(BaseParser):
    """Parses a JSON object; anything else is INVALID_JSON."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> JSONObject:
        """Return the object.

        Raises:
            ParseError: malformed, not an object, not UTF-8, too deep, or text that is not Unicode.
            TooLarge: BODY_TOO_LARGE; the server's own limit usually refuses the body earlier.
        """
        limit = settings.MRPVM_MAX_BODY_BYTES
        raw = stream.read(limit + 1)
        if len(raw) > limit:
            raise TooLarge(f"The request body is larger than {size_words(limit)}.", details={"max_bytes": limit})
        try:
            parsed = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
        except UnicodeDecodeError:
            raise ParseError("The body is not UTF-8.") from None
        except RecursionError:
            raise ParseError("The body is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"The body is not valid JSON: {error}.") from None
        if not isinstance(parsed, dict):
            raise ParseError("The body must be a JSON object.")
        if b"\\u" in raw and not is_storable(parsed):
            raise ParseError("The body holds a NUL or half of a surrogate pair: no text that could be stored.")
        return parsed


class UploadParser(BaseParser):
    """Parses a form with one file; the server's own limit bounds the whole of it."""

    media_type = MultiPartParser.media_type

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> JSONObject:
        """Return the form's fields, including its file.

        Raises:
            ParseError: malformed, several files, or text that could not be stored.
            TooLarge: BODY_TOO_LARGE, the fields without the file are too long.
        """
        try:
            parsed = MultiPartParser().parse(stream, media_type, parser_context)
        except RequestDataTooBig:
            limit = settings.MRPVM_MAX_BODY_BYTES
            raise TooLarge(
                f"The form's fields are larger than {size_words(limit)}.", details={"max_bytes": limit}
            ) from None
        except SuspiciousOperation:
            raise ParseError("The form has too many fields or files.") from None
        fields, files = parsed.data.dict(), [file for _, uploads in parsed.files.lists() for file in uploads]
        if len(files) > 1:
            raise ParseError("Send one file at a time.")
        if not is_storable(fields):
            raise ParseError("The form holds a NUL or half of a surrogate pair: no text that could be stored.")
        return fields | parsed.files.dict()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
