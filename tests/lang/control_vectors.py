"""The golden documents of LANG-37: vectors/*.sop, with their expected results in vectors/verdicts.json."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mrpvm.lang import AdmittedDocument, admit

FOLDER = Path(__file__).parent / "vectors"


@dataclass(frozen=True)
class Vector:
    """One document; `diagnostics` is empty if it must be admitted."""

    name: str
    kind: str
    frames: tuple[str, ...]
    diagnostics: tuple[dict[str, Any], ...]
    text: str

    def admit(self, text: str | None = None) -> AdmittedDocument:
        """Admit the document, or `text` instead, with the vector's injected frames."""
        return admit(self.text if text is None else text, self.kind, dict.fromkeys(self.frames, "frame"))


def read_vectors() -> dict[str, Vector]:
    """Return all vectors by name."""
    verdicts = json.loads((FOLDER / "verdicts.json").read_text(encoding="utf-8"))
    return {
        name: Vector(
            name=name,
            kind=verdict["kind"],
            frames=tuple(verdict["frames"]),
            diagnostics=tuple(verdict["diagnostics"]),
            text=(FOLDER / f"{name}.sop").read_text(encoding="utf-8"),
        )
        for name, verdict in verdicts.items()
    }


VECTORS = read_vectors()
ACCEPTED = [vector for vector in VECTORS.values() if not vector.diagnostics]
REFUSED = [vector for vector in VECTORS.values() if vector.diagnostics]
