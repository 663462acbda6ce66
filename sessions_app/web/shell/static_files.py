"""Static files as production serves them: hashed, compressed, and one stylesheet for all pages."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

ENTRY = "css/app.css"
IMPORT = re.compile(r'@import url\("([\w/-]+\.css)"\);')


class OneStylesheetStorage(CompressedManifestStaticFilesStorage):
    """Puts the stylesheets that the entry imports in its place: a browser asks for one file instead of thirty."""

    def post_process(
        self, paths: Mapping[str, tuple[Storage, str]], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str, bool]]:
        """Write the whole stylesheet, then hash and compress everything."""
        collected = dict(paths)
        if ENTRY in collected and not dry_run:
            self.delete(ENTRY)
            self.save(ENTRY, ContentFile(_whole(collected).encode()))
            collected[ENTRY] = (self, ENTRY)
        yield from super().post_process(collected, dry_run, **options)


def _whole(paths: Mapping[str, tuple[Storage, str]]) -> str:
    """Return the entry with the text of each stylesheet where it is imported."""
    return IMPORT.sub(lambda match: _read(paths, f"css/{match[1]}"), _read(paths, ENTRY))


def _read(paths: Mapping[str, tuple[Storage, str]], name: str) -> str:
    storage, path = paths[name]
    with storage.open(path) as file:
        return file.read().decode()
