"""Predicts the planner's choice for other inputs; writes nothing."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from mrpvm.errors import MRPError
from mrpvm.values import Selection
from sessions_app.actions.sessions.session import Choices
from sessions_app.experiments.replays.what_if import Prediction, what_if
from sessions_app.queries.turns import registry as turns
from sessions_app.turns.call import TurnCall
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.pages import page
from sessions_app.web.turns.panels.choice import choice_context, matrix_of, plugin_selectors, stages_of


@require_safe
@member_view()
def predict(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Return the order in which a turn with these inputs would try plugins, given the present state of the session."""
    turn = turns.turn(member.project, session_id, request_id)
    query = request.GET
    pins = Selection(
        planner=query.get("planner") or None,
        seed_detector=query.get("seedDetector") or None,
        kb=query.get("kb") or None,
        goal_solver=query.get("goalSolver") or None,
    )
    choices = Choices(planner=pins.planner, seed_detector=pins.seed_detector, kb=pins.kb, goal_solver=pins.goal_solver)
    call = TurnCall(message=query.get("message", turn.user_message), choices=choices)
    try:
        prediction = what_if(
            turn.session,
            call,
            preferences=Selection() if query.get("preferences") == "none" else None,
            with_statistics=query.get("statistics") != "none",
        )
    except MRPError as error:
        prediction = Prediction(events=(), error=error.message)
    stages, left_out = stages_of(prediction.events)
    predicted = {
        "predicted": matrix_of(stages) if stages else None,
        "predicted_left_out": left_out,
        "prediction_error": prediction.error,
    }
    if "HX-Request" in request.headers:
        return page(
            request, "turns/panels/choice.html#prediction", member, {"turn": turn, "session": turn.session, **predicted}
        )
    asked = {"message": call.message, "selectors": plugin_selectors(pins), "asked": query}
    context = {**choice_context(turn), **predicted, **asked}
    return page(request, "turns/panels/what_if.html", member, context, section="sessions")
