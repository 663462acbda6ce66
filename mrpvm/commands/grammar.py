"""What a command looks like."""

from dataclasses import dataclass

SIGN = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """A name and its arguments, as written: case counts, quotes mean nothing."""

    name: str
    args: tuple[str, ...]

    @property
    def payload(self) -> str:
        """Return the arguments as one text, joined by single spaces."""
        return " ".join(self.args)


def is_command(text: str) -> bool:
    """Return whether a message is a command: its raw first character decides."""
    return text.startswith(SIGN)


def parse(text: str) -> SlashCommand | None:
    """Return the command that a text states, None when no name follows the sign.

    Raises:
        ValueError: the text is no command.
    """
    if not is_command(text):
        raise ValueError("a command begins with its sign")
    words = text.removeprefix(SIGN).split()
    return SlashCommand(name=words[0], args=tuple(words[1:])) if words else None
