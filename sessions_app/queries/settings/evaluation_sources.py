"""The stories that the evaluation asks about, where the server was installed with them."""

import json

from django.conf import settings

from mrpvm.assistants.files import read_text


def evaluation_sources() -> list[dict[str, str]]:
    """Return the story of each suite as `{suite, file, name, content}`, by suite; none where there is no evaluation.

    Raises:
        UnreadableFile: a story is outside of the evaluation, or is no text of a sane size.
    """
    root = settings.MRPVM_SHIPPED_DIR / "stories"
    sources = []
    for path in root.glob("*/*/eval.json"):
        suite = json.loads(read_text(path, root))
        file = suite["storyFile"]
        content = read_text(path.parent / file, root)
        sources.append({"suite": suite["suiteId"], "file": file, "name": suite["title"], "content": content})
    return sorted(sources, key=lambda source: source["suite"])
