"""The API's description: an OpenAPI document, and pages to read and try it, served from here alone."""

from functools import cache
from threading import Lock
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponseBase
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.wire import JSONObject
from sessions_app.api.shell.authentication import PROJECT_HEADER, MemberAuthentication
from sessions_app.api.shell.views import ApiView
from sessions_app.queries.settings.projects import is_at_least, membership_of


class ApiKeyScheme(OpenApiAuthenticationExtension):
    target_class = "sessions_app.api.shell.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "mrp_<32 or more characters>"}


class LoginScheme(OpenApiAuthenticationExtension):
    """Describes a browser's login."""

    target_class = "sessions_app.api.shell.authentication.MemberAuthentication"
    name = "login"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": "A browser's login; writes also need the header X-CSRFToken. The header"
            f" {PROJECT_HEADER} names the project by its slug; without it the default one is meant.",
        }


_generating = Lock()


@cache
def _generated() -> JSONObject:
    return SchemaGenerator().get_schema(request=None, public=True)


def openapi_document() -> JSONObject:
    """Return the OpenAPI document, made once: it takes a second, and its generator is not for several threads."""
    with _generating:
        return _generated()


class Schema(ApiView):
    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        return Response(openapi_document())


class Docs(SpectacularSwaggerSplitView):
    """The document as pages; the script comes from an address of its own, so no inline script is needed."""

    authentication_classes = (MemberAuthentication,)
    permission_classes = ()
    url_name = "api:schema"
    template_name = "api/docs.html"

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Show the pages to those who are logged in, the login to others."""
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        response = super().get(request, *args, **kwargs)
        membership = membership_of(request.user)
        if membership is not None:
            response.data |= {"project": membership.project, "is_admin": is_at_least(membership.role, "admin")}
        response.data["section"] = "api-docs"
        return response
