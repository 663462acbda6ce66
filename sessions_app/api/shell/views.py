"""What every endpoint shares: who calls, one request id, strict bodies, JSON answers."""

from collections.abc import Sequence
from typing import Any, cast

from django.http import HttpRequest
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import NotFound as NoSuchPath
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from sessions_app.api.shell.authentication import Access, ApiKeyAuthentication, MemberAuthentication
from sessions_app.api.shell.parsers import JSONObjectParser
from sessions_app.api.shell.permissions import RolePermission
from sessions_app.api.shell.renderers import FastJSONRenderer
from sessions_app.identifiers import new_request_id
from sessions_app.models import Project


class JSONAlways(BaseContentNegotiation):
    """Answers in JSON whatever the client accepts: errors before a stream are plain answers too."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """Return the parser of the stated content type, None for one that is not known."""
        stated = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == stated), None)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the view's first renderer."""
        return renderers[0], renderers[0].media_type


class ApiView(APIView):
    """An endpoint. `session_id` is set once known, so that errors can name the session."""

    authentication_classes: Sequence[type[BaseAuthentication]] = (ApiKeyAuthentication, MemberAuthentication)
    permission_classes: Sequence[type[BasePermission]] = (RolePermission,)
    parser_classes: Sequence[type[BaseParser]] = (JSONObjectParser,)
    renderer_classes = (FastJSONRenderer,)
    content_negotiation_class = JSONAlways
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    write_role = "editor"
    session_id: str | None = None

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Return the framework's request, and the request its id."""
        self.request_id = new_request_id()
        if "CONTENT_LENGTH" not in request.META and "Transfer-Encoding" in request.headers:
            # The framework takes a body of unknown length for none.
            request.META["CONTENT_LENGTH"] = str(len(request.body))
        return super().initialize_request(request, *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the answer its request id."""
        finished = super().finalize_response(request, response, *args, **kwargs)
        finished.headers.setdefault("X-Request-Id", self.request_id)
        finished.headers.setdefault("Cache-Control", "no-store")
        return finished

    @property
    def access(self) -> Access:
        """Return what the caller may do."""
        return cast(Access, self.request.auth)

    @property
    def project(self) -> Project:
        """Return the caller's project: nothing outside of it exists for this request."""
        return self.access.project

    def body[Shape: serializers.Serializer](self, shape: type[Shape]) -> dict[str, Any]:
        """Return the validated body; keys that were not sent are absent.

        Raises:
            ValidationError, InvalidInput: a value is not acceptable.
        """
        return _checked(shape(data=self.request.data))

    def parameters[Shape: serializers.Serializer](self, shape: type[Shape]) -> dict[str, Any]:
        """Return the validated query string; defaults are filled in."""
        return _checked(shape(data=self.request.query_params.dict()))


def _checked(shape: serializers.Serializer) -> dict[str, Any]:
    shape.is_valid(raise_exception=True)
    return dict(shape.validated_data)


class UnknownPath(ApiView):
    """Any other address below `/api` [API-18: NOT_FOUND]."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse the request before its method is looked at."""
        raise NoSuchPath
