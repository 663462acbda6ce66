"""What every endpoint below `/v1` shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from rest_framework.request import Request

from mrpvm.errors import InvalidInput
from mrpvm.wire import JSONObject
from sessions_app.api.openai.errors import exception_handler, missing
from sessions_app.api.openai.objects import ListObject, MessageItem
from sessions_app.api.shell.views import ApiView, UnknownPath
from sessions_app.queries.search.row_numbers import whole_number

PAGE_LIMIT = 20
PAGE_LIMIT_MAX = 100


class OpenAIView(ApiView):
    """An endpoint whose errors have OpenAI's shape; `messages_param` is the parameter in which it takes messages."""

    schema = None
    messages_param: str | None = None

    def get_exception_handler(self) -> Any:
        """Return what answers exceptions."""
        return exception_handler

    def sent(self) -> JSONObject:
        """Return the body as it came; a request without one sent nothing."""
        data = self.request.data
        return dict(data) if isinstance(data, Mapping) else {}


class UnknownOpenAIPath(UnknownPath, OpenAIView):
    """Any other address below `/v1`."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse the request before its method is looked at, and name what there is."""
        raise missing(
            None,
            "unknown_url",
            f"There is no {request.path} here: chat/completions, responses, conversations, models and traces are what"
            " this server answers below /v1. Ask the provider of a model for anything else, such as embeddings.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAsked:
    """Which page of a list a request wants: at most `limit` items, those behind the item `after`."""

    is_newest_first: bool
    after: str | None
    limit: int

    @classmethod
    def by(cls, request: Request) -> Self:
        """Read `order`, `after` and `limit`; the newest come first unless asked otherwise.

        Raises:
            InvalidInput: a parameter is not acceptable.
        """
        parameters = request.query_params
        order = parameters.get("order", "desc")
        if order not in ("asc", "desc"):
            raise InvalidInput("order must be asc or desc.", details={"param": "order"})
        limit = whole_number(parameters.get("limit", str(PAGE_LIMIT)))
        if limit is None or not 1 <= limit <= PAGE_LIMIT_MAX:
            raise InvalidInput(f"limit must be from 1 to {PAGE_LIMIT_MAX}.", details={"param": "limit"})
        return cls(is_newest_first=order == "desc", after=parameters.get("after"), limit=limit)

    def as_list(self, items: Sequence[MessageItem]) -> ListObject:
        """Return the page as a list of OpenAI's.

        Args:
            items: those of the page in its order, and one more if there is one.
        """
        return list_of(items[: self.limit], has_more=len(items) > self.limit)


def list_of(items: Sequence[MessageItem], *, has_more: bool = False) -> ListObject:
    """Return these items as a list of OpenAI's."""
    first, last = (items[0]["id"], items[-1]["id"]) if items else (None, None)
    return {"object": "list", "data": items, "first_id": first, "last_id": last, "has_more": has_more}


def unknown_after() -> InvalidInput:
    """Return the refusal of an `after` that names nothing."""
    return InvalidInput("after names no item of this list.", details={"param": "after"})
