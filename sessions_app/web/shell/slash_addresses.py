"""Redirects of addresses with a trailing slash, which no page has."""

from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.urls import Resolver404, resolve
from django.views.decorators.common import no_append_slash
from django.views.decorators.http import require_safe


@no_append_slash
@require_safe
def without(request: HttpRequest, address: str) -> HttpResponseRedirect:
    """Send the reader of `/knowledge/` to `/knowledge`.

    Raises:
        Http404: nothing is there either.
    """
    try:
        resolve(f"/{address}")
    except Resolver404:
        raise Http404 from None
    query = request.META["QUERY_STRING"]
    return HttpResponseRedirect(f"/{address}?{query}" if query else f"/{address}")
