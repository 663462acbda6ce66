"""What people think of answers, the queue of turns to be reviewed, and how far reviewers agree."""

from contextlib import suppress

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.turns.ratings import rate_turn
from sessions_app.actions.turns.reviews import queue_turns, skip_turn, unqueue_turns
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import PageQuery, RatingRequest, SeveralTurns
from sessions_app.api.shell.views import ApiView
from sessions_app.api.turns.listing import turns_meant
from sessions_app.api.turns.responses import QueuedTurnObject, ScoreObject
from sessions_app.models import ExplainabilityTurn, QueuedTurn, TurnScore
from sessions_app.queries.paging import cursor_number, page
from sessions_app.queries.turns.agreement import project_agreements
from sessions_app.queries.turns.registry import turn as turn_of
from sessions_app.queries.turns.reviews import queue_counts, queued_turns, scores_of


def score_record(score: TurnScore) -> ScoreObject:
    return {"person": score.person, "value": score.value, "note": score.note, "scored_at": score.scored_at}


class TurnScores(ApiView):
    """What people think of one turn's answer; a caller changes its own score alone."""

    @schemas.scores_read
    def get(self, request: Request, session_id: str, request_id: str) -> Response:
        """List the scores, the oldest first."""
        return self._answer(turn_of(self.project, session_id, request_id))

    @schemas.score_set
    def put(self, request: Request, session_id: str, request_id: str) -> Response:
        """Rate the answer, or note that it was looked at without a rating."""
        body, turn = self.body(RatingRequest), turn_of(self.project, session_id, request_id)
        if body["value"] == TurnScore.Value.SKIPPED:
            skip_turn(turn, self.author)
        else:
            rate_turn(turn, body["value"], body.get("note", ""), self.author)
        return self._answer(turn_of(self.project, session_id, request_id))

    @schemas.score_delete
    def delete(self, request: Request, session_id: str, request_id: str) -> Response:
        """Delete the caller's score; idempotent."""
        with suppress(NotFound):
            rate_turn(turn_of(self.project, session_id, request_id), "", author=self.author)
        return Response(status=204)

    def _answer(self, turn: ExplainabilityTurn) -> Response:
        rating = getattr(turn, "rating", None)
        scores = [score_record(score) for score in scores_of(turn)]
        return Response({"rating": rating.value if rating else None, "scores": scores})


class Reviews(ApiView):
    """The project's review queue."""

    @schemas.review_list
    def get(self, request: Request) -> Response:
        """List the queue, the oldest first."""
        query = self.parameters(PageQuery)
        queue = queued_turns(self.project).prefetch_related("turn__scores")
        listed = page(queue, [("id", cursor_number)], query["limit"], query.get("cursor"))
        counts = queue_counts(self.project, self.author.name)
        body = {
            "queued": counts.queued,
            "done": counts.done,
            "turns": [_queued(row) for row in listed.rows],
            "next_cursor": listed.next_cursor,
        }
        return self.linked(body, next=listed.next_cursor, prev=listed.previous_cursor, total=counts.queued)

    @schemas.review_add
    def post(self, request: Request) -> Response:
        """Add turns to the end of the queue."""
        queued = queue_turns(self.project, turns_meant(self.project, self.body(SeveralTurns)), self.author)
        added = {"added": queued.added, "known": queued.known, "unanswered": queued.unanswered}
        return Response(added, status=201)


def _queued(row: QueuedTurn) -> QueuedTurnObject:
    return {
        "request_id": row.turn.request_id,
        "session_id": row.turn.session.session_id,
        "user_message": row.turn.user_message,
        "assistant_preview": row.turn.assistant_preview,
        "added_by": row.added_by_name,
        "added_at": row.added_at,
        "scores": [score_record(score) for score in row.turn.scores.all()],
    }


class OneReview(ApiView):
    """A turn of the queue."""

    @schemas.review_remove
    def delete(self, request: Request, request_id: str) -> Response:
        """Remove the turn from the queue; idempotent."""
        unqueue_turns(self.project, [request_id])
        return Response(status=204)


class ReviewAgreement(ApiView):
    """How far those agree who have rated the same answers."""

    @schemas.agreement_read
    def get(self, request: Request) -> Response:
        """Read the share of equal ratings, and Cohen's kappa of each two people."""
        agreements = project_agreements(self.project)
        pairs = [
            {
                "people": list(pair.people),
                "both": pair.both_count,
                "equal": pair.equal_count,
                "kappa": pair.kappa,
            }
            for pair in agreements.pairs
        ]
        body = {"both": agreements.both_count, "equal": agreements.equal_count, "equal_share": agreements.equal_share}
        return Response({**body, "pairs": pairs})
