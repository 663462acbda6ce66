"""What was changed in a form that shows what is stored."""

from collections.abc import Iterable, Mapping


def changed_fields(form: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the fields whose text differs from the one that the page showed, which the form sends as `was-NAME`.

    The others may have been changed by somebody else since, and are left alone.
    """
    sent = {name: form[name].strip() for name in names if name in form}
    return {name: text for name, text in sent.items() if text != form.get(f"was-{name}")}
