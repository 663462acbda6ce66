"""How long the project keeps what, for its admins."""

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.settings.retention import check_days, choose_retention, start_retention, stop_retention
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import RetentionQuery, RetentionRequest
from sessions_app.api.shell.responses import RetentionCount, RetentionKindPreview, RetentionObject
from sessions_app.api.shell.views import AdminsView
from sessions_app.models import Retention, RetentionKind
from sessions_app.queries.settings.retention import (
    Count,
    Preview,
    chosen_with,
    days_kept,
    removal_preview,
    retention_of,
    server_days,
)


class RetentionSettings(AdminsView):
    """The rules, and what the run that carries them out has done."""

    @schemas.retention_read
    def get(self, request: Request) -> Response:
        """Return the rules and the newest run."""
        return Response(_rules(retention_of(self.project)))

    @schemas.retention_change
    def patch(self, request: Request) -> Response:
        """Change the rules that are named."""
        return Response(_rules(choose_retention(self.project, self.body(RetentionRequest)["days"])))


class RetentionPreview(AdminsView):
    """What rules would remove now."""

    @schemas.retention_preview
    def get(self, request: Request) -> Response:
        """Count what would go and what would stay, and why; rules that are not named are the project's."""
        named = {name.replace("_", "-"): days for name, days in self.parameters(RetentionQuery).items()}
        check_days(named)
        chosen = chosen_with(retention_of(self.project).days, named)
        return Response({"kinds": [_preview(item) for item in removal_preview(self.project, chosen)]})


class StopRetention(AdminsView):
    """An end to removing."""

    @schemas.retention_stop
    def post(self, request: Request) -> Response:
        """Remove nothing more until it is started again."""
        return Response(_rules(stop_retention(self.project)))


class StartRetention(AdminsView):
    @schemas.retention_start
    def post(self, request: Request) -> Response:
        """Ask for a run."""
        return Response(_rules(start_retention(self.project)))


def _rules(retention: Retention) -> RetentionObject:
    return {
        "kinds": [
            {
                "kind": kind.value,
                "name": str(kind.label),
                "days": days_kept(retention.days, kind),
                "server_days": server_days(kind),
                "is_chosen": kind.value in retention.days,
            }
            for kind in RetentionKind
        ],
        "run": {
            "status": retention.status,
            "kind": retention.kind or None,
            "removed": retention.removed,
            "began_at": retention.began_at,
            "finished_at": retention.finished_at,
        },
    }


def _preview(item: Preview) -> RetentionKindPreview:
    return {
        "kind": item.kind.value,
        "days": item.days,
        "removed": _count(item.removed),
        "kept": [{"reason": each.reason, **_count(each.count)} for each in item.kept],
    }


def _count(count: Count) -> RetentionCount:
    return {"count": count.number, "is_more": count.is_more}
