"""Forgetting: planned, confirmed, carried out and proved. Admins alone may see and do it."""

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.experiments.forgetting.acts import cancel_act
from sessions_app.api.experiments.endpoints import ExperimentView
from sessions_app.api.experiments.requests import ForgetRequest, PlanRequest
from sessions_app.api.experiments.responses import ForgettingObject, ListedForgetting, PlaceObject
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import PageQuery
from sessions_app.experiments.forgetting.acts import name_of, start_plan, start_removal
from sessions_app.experiments.forgetting.certificate import places_of
from sessions_app.models import Forgetting
from sessions_app.queries.experiments.forgetting.acts import forgetting, forgetting_page
from sessions_app.queries.experiments.forgetting.origins import Subject


class ForgettingView(ExperimentView):
    """What endpoints of forgetting share."""

    read_role = write_role = "admin"


class Plans(ForgettingView):
    """Looking for what is to go."""

    @schemas.forget_plan
    def post(self, request: Request) -> Response:
        """Plan; nothing is removed."""
        body = self.body(PlanRequest)
        wait_ms = body.pop("wait_ms")
        return Response(_record(start_plan(self.project, Subject(**body), self.author, wait_ms=wait_ms)), status=201)


class Forgettings(ForgettingView):
    @schemas.forget_list
    def get(self, request: Request) -> Response:
        """List them, the newest first."""
        query = self.parameters(PageQuery)
        return self.listed("forgettings", forgetting_page(self.project, query["limit"], query.get("cursor")), _listed)

    @schemas.forget_run
    def post(self, request: Request) -> Response:
        """Carry out a plan."""
        body = self.body(ForgetRequest)
        act = forgetting(self.project, body["forgetting_id"])
        return Response(_record(start_removal(act, body["confirm"], wait_ms=body["wait_ms"])), status=202)


class OneForgetting(ForgettingView):
    @schemas.forget_read
    def get(self, request: Request, forgetting_id: str) -> Response:
        """Read it with its plan and its certificate."""
        return Response(_record(forgetting(self.project, forgetting_id)))


class CancelForgetting(ForgettingView):
    @schemas.forget_cancel
    def post(self, request: Request, forgetting_id: str) -> Response:
        """Drop a plan or stop an act."""
        cancel_act(forgetting(self.project, forgetting_id))
        return Response(_record(forgetting(self.project, forgetting_id)), status=202)


def _listed(act: Forgetting) -> ListedForgetting:
    return {
        "forgetting_id": act.forgetting_id,
        "kind": act.kind,
        "status": act.status,
        "subject": act.subject,
        "created_by": act.created_by_name,
        "created_at": act.created_at,
        "began_at": act.began_at,
        "finished_at": act.finished_at,
        "stage": act.stage,
        "row_count": act.row_count,
        "error": act.error,
    }


def _record(act: Forgetting) -> ForgettingObject:
    places: list[PlaceObject] = [
        {"place": place.name, "before": place.before, "afterwards": place.afterwards, "after": place.after}
        for place in places_of(act)
    ]
    return {**_listed(act), "name": name_of(act), "places": places, "notes": act.notes}
