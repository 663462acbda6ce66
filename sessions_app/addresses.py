"""The path converter `<id:...>` of pages and of the API; importing this module registers it."""

from django.urls import register_converter
from django.urls.converters import StringConverter


class IdConverter(StringConverter):
    """An id: anything without a slash or a control character; ids of clients may hold spaces."""

    regex = r"[^/\x00-\x1f\x7f]{1,500}"


register_converter(IdConverter, "id")
