"""Fits text into boxes; widths are estimated, because the server cannot measure fonts."""

import unicodedata
from functools import lru_cache

# Advance widths in em of common system sans-serif fonts, rounded up: a label may be cut too early, but never overflows.
_NARROW = frozenset("iljtfrI.,:;'!|()[]{}-/ ")
_WIDE = frozenset("mwMW@%")
_NARROW_EM, _COMMON_EM, _UPPER_EM, _WIDE_EM, _FULL_EM = 0.39, 0.62, 0.72, 0.98, 1.05
_MONO_EM = 0.62
_BOLD = 1.11
_ELLIPSIS = "…"


def text_width(text: str, font_px: float, *, mono: bool = False, bold: bool = False) -> float:
    """Return an upper estimate of the width of a text in px."""
    return sum(_em(character, mono=mono) for character in text) * font_px * (_BOLD if bold else 1.0)


def fit(text: str, width_px: float, font_px: float, *, mono: bool = False, bold: bool = False) -> str:
    """Return the text, cut with an ellipsis if it is wider than the width."""
    if bold:
        width_px /= _BOLD
    if text_width(text, font_px, mono=mono) <= width_px:
        return text
    room = width_px - _em(_ELLIPSIS, mono=mono) * font_px
    kept: list[str] = []
    for character in text:
        room -= _em(character, mono=mono) * font_px
        if room < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + _ELLIPSIS


def beginning(text: str, length: int) -> str:
    """Return the text, cut between words with an ellipsis if it is longer than `length` characters."""
    if len(text) <= length:
        return text
    words, _, _ = text[:length].rpartition(" ")
    return (words or text[: length - 1]) + _ELLIPSIS


def fit_words(text: str, width_px: float, font_px: float) -> str:
    """Return the text, cut between words with an ellipsis if it is wider than the width."""
    shown = fit(text, width_px, font_px)
    return shown if shown == text else beginning(text, len(shown))


@lru_cache(maxsize=2_048)
def clean(text: str) -> str:
    """Return the text on one line, without characters that XML forbids or that change the text direction."""
    shown = (" " if character.isspace() else character for character in text)
    return "".join(character for character in shown if unicodedata.category(character) not in _UNPRINTABLE).strip()


_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def _em(character: str, *, mono: bool) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return _FULL_EM
    if mono:
        return _MONO_EM
    if character in _NARROW:
        return _NARROW_EM
    if character in _WIDE:
        return _WIDE_EM
    return _UPPER_EM if character.isupper() else _COMMON_EM
