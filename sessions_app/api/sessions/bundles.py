"""Sessions as bundles: one file that holds what their turns need."""

from collections.abc import AsyncIterator
from tempfile import TemporaryFile
from typing import IO

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.settings.audit import record_export
from sessions_app.api.shell import schemas
from sessions_app.api.shell.parsers import UploadParser
from sessions_app.api.shell.requests import BundleRequest
from sessions_app.api.shell.views import ApiView
from sessions_app.interchange.bundle.importing import import_bundle
from sessions_app.interchange.bundle.writing import write_bundle
from sessions_app.queries.sessions.lookups import session

_CHUNK_BYTES = 64 * 1024


class SessionBundle(ApiView):
    """A session with everything that its turns need."""

    @schemas.session_bundle
    def get(self, request: Request, session_id: str) -> StreamingHttpResponse:
        """Return the bundle; secrets in it are redacted, as on the pages."""
        return bundle_response(session_id, self.bundle_file(session_id))

    def bundle_file(self, session_id: str) -> IO[bytes]:
        """Return the written file, open at its beginning."""
        file = TemporaryFile()  # noqa: SIM115  closed once it is sent
        try:
            exported = session(self.project, session_id)
            write_bundle(exported, file)
            record_export(exported, "bundle")
        except BaseException:
            file.close()
            raise
        return file


def bundle_response(session_id: str, file: IO[bytes]) -> StreamingHttpResponse:
    """Return a download that reads an open file from its beginning and closes it."""
    size = file.tell()
    file.seek(0)
    name = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in session_id)
    return StreamingHttpResponse(
        _chunks(file),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}.mrpvm.zip"', "Content-Length": str(size)},
    )


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while chunk := await sync_to_async(file.read, thread_sensitive=False)(_CHUNK_BYTES):
            yield chunk


class Bundles(ApiView):
    """Bundles of other servers."""

    parser_classes = (UploadParser,)

    @schemas.bundle_import
    def post(self, request: Request) -> Response:
        """Store a bundle as a session of the project."""
        imported = import_bundle(self.project, self.body(BundleRequest)["file"])
        stored = {
            "session_id": imported.session.session_id,
            "turn_count": imported.turn_count,
            "renamed_count": imported.renamed_count,
            "left_out": list(imported.left_out),
        }
        return Response(stored, status=201)
