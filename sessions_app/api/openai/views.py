"""What every endpoint below `/v1` shares."""

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request

from mrpvm.errors import InvalidInput
from sessions_app.api.openai.errors import exception_handler
from sessions_app.api.views import ApiView, UnknownPath
from sessions_app.queries.row_numbers import whole_number

PAGE_LIMIT = 20
PAGE_LIMIT_MAX = 100


class OpenAIView(ApiView):
    """An endpoint whose errors have OpenAI's shape."""

    schema = None

    def get_exception_handler(self) -> Any:
        """Give what answers exceptions."""
        return exception_handler

    def sent(self) -> dict[str, Any]:
        """Give the body as it came; a request without one sent nothing."""
        data = self.request.data
        return dict(data) if isinstance(data, Mapping) else {}


class UnknownOpenAIPath(UnknownPath, OpenAIView):
    """Any other address below `/v1`."""


def listed[Item: Mapping[str, Any]](request: Request, items: list[Item]) -> dict[str, Any]:
    """Give one page of a list, as `order`, `after` and `limit` say; the newest first unless asked otherwise.

    Args:
        items: all of them, the oldest first.

    Raises:
        InvalidInput: a parameter is not acceptable.
    """
    given = request.query_params
    order, after = given.get("order", "desc"), given.get("after")
    if order not in ("asc", "desc"):
        raise InvalidInput("order must be asc or desc.", details={"param": "order"})
    limit = whole_number(given.get("limit", str(PAGE_LIMIT)))
    if limit is None or not 1 <= limit <= PAGE_LIMIT_MAX:
        raise InvalidInput(f"limit must be from 1 to {PAGE_LIMIT_MAX}.", details={"param": "limit"})
    ordered = items if order == "asc" else items[::-1]
    if after is not None:
        places = [place for place, item in enumerate(ordered) if item["id"] == after]
        if not places:
            raise InvalidInput("after names no item of this list.", details={"param": "after"})
        ordered = ordered[places[0] + 1 :]
    page = ordered[:limit]
    return {
        "object": "list",
        "data": page,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
        "has_more": len(ordered) > len(page),
    }
