"""`Idempotency-Key`: a repeated write gets the first answer again, and nothing is done twice."""

import hashlib
import json
import logging
from functools import partial
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import DatabaseError
from django.http import HttpResponse, HttpResponseBase
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from mrpvm.errors import InvalidInput
from sessions_app.actions.settings.kept_answers import KEY_CHARS, claim_key, keep_answer, release_key
from sessions_app.api.shell.authentication import Access
from sessions_app.api.turns.sse import EventStream
from sessions_app.models import KeptAnswer

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
"""Says of an answer that it was kept."""
_NOT_KEPT = {"cache-control", "content-length", "vary"}
"""Headers that each answer gets anew."""

logger = logging.getLogger(__name__)


class AnsweredBefore(Exception):
    """The request was answered before; `response` is that answer."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__()
        self.response = response


def claim_of(request: Request, *, is_parsed: bool) -> KeptAnswer | None:
    """Return the claim on the request's key; None for one that sends no key, writes nothing or has no caller.

    Args:
        is_parsed: whether the view's parsers read the body. What they give is compared, so that the order of fields
            and the boundary of a form do not matter.

    Raises:
        AnsweredBefore: with the kept answer.
        InvalidInput: the key is too long, or was used for something else.
        Conflict: the first request has no answer yet, or none at all.
    """
    key = request.headers.get(HEADER, "").strip()
    if not key or request.method in SAFE_METHODS or not isinstance(request.auth, Access):
        return None
    if len(key) > KEY_CHARS:
        raise InvalidInput(f"{HEADER} has {len(key)} characters; at most {KEY_CHARS} are kept.")
    access = request.auth
    kept, is_new = claim_key(access.project, access.caller, key, _fingerprint(request, is_parsed=is_parsed))
    if not is_new:
        raise AnsweredBefore(_replayed(kept))
    return kept


def settle_claim(claim: KeptAnswer, response: HttpResponseBase, *, is_done: bool) -> None:
    """Keep the answer once it is whole, or release the key where the request was refused.

    Args:
        is_done: the request was carried out, though its answer is an error: a turn that failed is recorded as one.
    """
    if isinstance(response, EventStream):
        response.when_ended(partial(_keep, claim, response))
    elif response.status_code >= 400 and not is_done:
        release_key(claim)
    elif hasattr(response, "add_post_render_callback"):
        response.add_post_render_callback(lambda rendered: _keep(claim, rendered, rendered.content))
    elif isinstance(response, HttpResponse):
        _keep(claim, response, response.content)


def _keep(claim: KeptAnswer, response: HttpResponseBase, body: bytes) -> None:
    """Store an answer; if that fails the error is only logged, because the request was carried out."""
    headers = {name: value for name, value in response.items() if name.lower() not in _NOT_KEPT}
    try:
        keep_answer(claim, response.status_code, headers, body)
    except DatabaseError:
        logger.exception("the answer to an Idempotency-Key could not be kept")


def _replayed(kept: KeptAnswer) -> HttpResponse:
    return HttpResponse(bytes(kept.body), status=kept.status, headers={**kept.headers, REPLAYED: "true"})


def _fingerprint(request: Request, *, is_parsed: bool) -> str:
    """Return a hash of the method, the address and the body."""
    fingerprint = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if is_parsed:
        fingerprint.update(json.dumps(request.data, sort_keys=True, default=_digest).encode())
    else:
        fingerprint.update(request._request.body)
    return fingerprint.hexdigest()


def _digest(value: Any) -> str:
    """Return what represents a form's file: its name and a hash of what it holds."""
    if not isinstance(value, UploadedFile):
        return str(value)
    content = hashlib.sha256()
    for chunk in value.chunks():
        content.update(chunk)
    value.seek(0)
    return f"{value.name} {content.hexdigest()}"
