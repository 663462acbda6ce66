"""Shipped prompt texts: package data beside the plugin that sends them."""

import re
from importlib.resources import files

from mrpvm.errors import RegistryError

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def load_prompt(package: str, name: str, **values: str) -> str:
    """Return the text of `prompts/<name>.md` in a package, its `{{places}}` filled.

    Raises:
        RegistryError: the file is missing, or a place has no value; plugins load at start-up, so the start stops.
    """
    try:
        text = files(package).joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError):
        raise RegistryError(f"The prompt file prompts/{name}.md of {package} is missing.") from None
    unknown = sorted(set(_PLACE.findall(text)) - values.keys())
    if unknown:
        raise RegistryError(f"The prompt file {name}.md of {package} has no value for {', '.join(unknown)}.")
    return _PLACE.sub(lambda match: values[match[1]], text).strip()
