"""What the addresses of pages and of the API have in common: `<id:...>`, registered when this is imported."""

from django.urls import register_converter
from django.urls.converters import StringConverter


class IdConverter(StringConverter):
    """An id: anything without a slash or a control character; ids of clients may hold spaces."""

    regex = r"[^/\x00-\x1f\x7f]{1,500}"


register_converter(IdConverter, "id")
