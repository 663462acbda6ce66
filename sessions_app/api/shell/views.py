"""What every endpoint shares: who calls, one request id, strict bodies, JSON answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from django.db.models import Model
from django.http import HttpRequest
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import NotFound as NoSuchPath
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from mrpvm.errors import InvalidInput
from sessions_app.actions.experiments.experiments import Author
from sessions_app.api.shell.authentication import Access, ApiKeyAuthentication, KeyHolder, MemberAuthentication
from sessions_app.api.shell.errors import PROBLEM_TYPE, problem_of
from sessions_app.api.shell.idempotency import AnsweredBefore, claim_of, settle_claim
from sessions_app.api.shell.parsers import JSONObjectParser
from sessions_app.api.shell.permissions import RolePermission
from sessions_app.api.shell.renderers import FastJSONRenderer
from sessions_app.identifiers import new_request_id
from sessions_app.models import KeptAnswer, Project
from sessions_app.queries.paging import Page
from sessions_app.turns.close import TurnError

type Validated = dict[str, Any]
"""What a serializer has accepted, by the names of its fields."""


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
    read_role = "viewer"
    write_role = "editor"
    takes_chat_keys = False
    cursor_parameter = "cursor"
    cache_control = "no-store"
    session_id: str | None = None
    claim: KeptAnswer | None = None
    is_done = False

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Return the framework's request, and the request its id."""
        self.request_id = new_request_id()
        if "CONTENT_LENGTH" not in request.META and "Transfer-Encoding" in request.headers:
            # The framework takes a body of unknown length for none.
            request.META["CONTENT_LENGTH"] = str(len(request.body))
        return super().initialize_request(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse who may not do this, and answer what was answered before."""
        super().initial(request, *args, **kwargs)
        for name, values in request.query_params.lists():
            if any("\0" in text for text in (name, *values)):
                said = "A parameter holds a NUL: no text that could be stored."
                raise InvalidInput(said, details={"fields": {name: [said]}})
        self.claim = claim_of(request, is_parsed=bool(self.parser_classes))

    def handle_exception(self, exc: Exception) -> Any:
        """Return the answer to an exception."""
        if isinstance(exc, AnsweredBefore):
            return exc.response
        self.is_done = isinstance(exc, TurnError)
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the answer with its request id and links, as problem details if those were asked for."""
        finished = super().finalize_response(request, response, *args, **kwargs)
        finished.headers.setdefault("X-Request-Id", self.request_id)
        finished.headers.setdefault("Cache-Control", self.cache_control)
        if PROBLEM_TYPE in request.headers.get("Accept", "") and "error" in (getattr(finished, "data", None) or ()):
            finished.data = problem_of(finished.data, finished.status_code)
            finished.content_type = PROBLEM_TYPE
        if self.claim is not None:
            settle_claim(self.claim, finished, is_done=self.is_done)
        return finished

    @property
    def access(self) -> Access:
        """Return what the caller may do."""
        return cast(Access, self.request.auth)

    @property
    def project(self) -> Project:
        """Return the caller's project: nothing outside of it exists for this request."""
        return self.access.project

    @property
    def author(self) -> Author:
        """Return who asks."""
        user, holder = self.access.actor, self.request.user
        if user is not None or not isinstance(holder, KeyHolder):
            return Author(name=holder.get_username(), user=user)
        return Author(name=f"API key {holder.name}")

    def listed[Row: Model](
        self, name: str, page: Page[Row], payload: Callable[[Row], Mapping[str, Any]], total: int | None = None
    ) -> Response:
        """Return a page of a list, with links to those beside it.

        Args:
            total: how many rows the whole list has, where that is stored.
        """
        body = {name: [payload(row) for row in page.rows], "next_cursor": page.next_cursor}
        return self.linked(body, next=page.next_cursor, prev=page.previous_cursor, total=total)

    def linked(self, body: Mapping[str, Any], *, total: int | None = None, **cursors: str | None) -> Response:
        """Return an answer with a `Link` header (RFC 8288): the first page, and for each relation that of its cursor.

        The addresses are relative: what a proxy makes of the server's own is not known here.
        """
        relations = {relation: cursor for relation, cursor in cursors.items() if cursor}
        links = [f'<{self._address_of(cursor)}>; rel="{relation}"' for relation, cursor in relations.items()]
        headers = {"Link": ", ".join([f'<{self._address_of(None)}>; rel="first"', *links])}
        if total is not None:
            headers["X-Total-Count"] = str(total)
        return Response(body, headers=headers)

    def _address_of(self, cursor: str | None) -> str:
        query = self.request.query_params.copy()
        query.pop(self.cursor_parameter, None)
        if cursor is not None:
            query[self.cursor_parameter] = cursor
        return f"{self.request.path}?{query.urlencode()}" if query else self.request.path

    def body[Shape: serializers.Serializer](self, shape: type[Shape]) -> Validated:
        """Return the validated body; keys that were not sent are absent.

        Raises:
            ValidationError, InvalidInput: a value is not acceptable.
        """
        return _checked(shape(data=self.request.data))

    def parameters[Shape: serializers.Serializer](self, shape: type[Shape]) -> Validated:
        """Return the validated query string; defaults are filled in."""
        return _checked(shape(data=self.request.query_params.dict()))


def _checked(shape: serializers.Serializer) -> Validated:
    shape.is_valid(raise_exception=True)
    return dict(shape.validated_data)


class AdminsView(ApiView):
    """A view for admins of the project alone."""

    read_role = write_role = "admin"


class UnknownPath(ApiView):
    """Any other address below `/api`."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse the request before its method is looked at."""
        raise NoSuchPath
