"""Personas: how an assistant talks. Files become a catalogue that a session keeps."""

from mrpvm.assistants.personas.catalogue import FALLBACK, Persona, PersonaCatalogue, PersonaRoot, load_personas
from mrpvm.assistants.personas.style import BALANCED, STYLES, resolve_style

__all__ = [
    "BALANCED",
    "FALLBACK",
    "STYLES",
    "Persona",
    "PersonaCatalogue",
    "PersonaRoot",
    "load_personas",
    "resolve_style",
]
