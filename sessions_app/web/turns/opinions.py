"""The ratings of an answer, as shown to one person."""

from collections.abc import Iterable
from dataclasses import dataclass

from sessions_app.models import TurnRating, TurnScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """The reader's own rating, and the ratings of others; a rating from an imported bundle has no user."""

    own: TurnScore | None
    others: tuple[TurnScore | TurnRating, ...]


def opinions(scores: Iterable[TurnScore], rating: TurnRating | None, person: str) -> Opinions:
    """Return what a person sees of a turn's scores and rating."""
    thumbs = [score for score in scores if score.value != TurnScore.Value.SKIPPED]
    others = tuple(score for score in thumbs if score.person != person)
    return Opinions(
        own=next((score for score in thumbs if score.person == person), None),
        others=others if thumbs or rating is None else (rating,),
    )
