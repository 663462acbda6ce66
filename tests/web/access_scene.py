"""A project with a row of every kind that an address can name."""

import re
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.urls import URLPattern

from sessions_app.actions.settings.api_keys import create_key
from sessions_app.actions.settings.members import create_invitation
from sessions_app.models import (
    Alert,
    ApiKey,
    Experiment,
    Forgetting,
    Invitation,
    LayerUnit,
    Membership,
    Project,
    SavedFilter,
    Suite,
    SuiteRun,
    TestCase,
    Trial,
)
from tests.actions.knowledge_scene import add_text
from tests.layers.units import make_unit
from tests.web.page_scene import add_turns, new_session

MARK = "zebrafish"
"""A word that stands in what the project's rows hold, and nowhere else."""
QUERIES = {
    "unit": "?id={unit_id}",
    "turn-compare": "?with={request_id}",
    "turn-detail": "?sel={ref}",
    "knowledge-tree": "?unit={layer_unit_id}",
}
"""What some pages want besides their address."""


@dataclass(frozen=True)
class Scene:
    """The project and the ids of its rows, by the names of the variables in addresses."""

    project: Project
    ids: dict[str, str]

    @property
    def session_id(self) -> str:
        return self.ids["session_id"]

    @property
    def base_id(self) -> str:
        return self.ids["kb_id"]

    def address(self, pattern: URLPattern) -> str:
        """Return the pattern's address with the ids of the scene.

        A pattern with an unknown variable fails: add its value here.
        """
        path = re.sub(r"<\w+:(\w+)>", lambda match: self.ids[match[1]], str(pattern.pattern))
        return "/" + path + QUERIES.get(str(pattern.name), "").format(**self.ids)

    def is_of_a_row(self, path: str) -> bool:
        """Return whether an address names a row of the project."""
        return any(part in self.ids.values() for part in path.partition("?")[0].split("/"))

    def is_shown(self, text: str) -> bool:
        """Return whether a page shows any text of the project."""
        return MARK in text or self.session_id in text


def add_scene(project: Project) -> Scene:
    """Make the rows."""
    session = new_session(project, title=f"{MARK} talk")
    turn, later = add_turns(session, 2)
    group = {"intentRef": "i1", "act": "ask", "intent": "why", "status": "answered", "answerMarkdown": "[1]"}
    later.response_document = {"groups": [{**group, "citedUnitIds": [f"unit-{session.pk}-1"]}]}
    section = {"name": "question", "source": "turn", "chars": len(MARK), "tokens": 2, "text": MARK}
    later.context_report = {
        "conversationSource": "session", "chars": len(MARK), "tokens": 2, "warnings": [], "sections": [section],
    }  # fmt: skip
    later.save()
    base = session.mounted_kb
    source = add_text(
        base,
        f"{MARK}.md",
        f"# Fish\n\nThe {MARK} is small. It lives in rivers.",
        [make_unit("fish::1", f"The {MARK} is small.")],
    )
    trials, ran = (
        Experiment.objects.create(
            project=project, session=session, kind=kind, status="finished", created_by_name=MARK, **more
        )
        for kind, more in (("trials", {"turn": turn}), ("suite", {"message": MARK}))
    )
    Trial.objects.create(experiment=trials, position=1, status="succeeded", answer=MARK)
    suite = Suite.objects.create(project=project, name=f"{MARK} suite", created_by_name="ann")
    test = TestCase.objects.create(
        suite=suite, position=1, name=MARK, message=f"{MARK}?", turn=turn, base=base, expected={"contains": [MARK]}
    )
    SuiteRun.objects.create(suite=suite, experiment=ran)
    act = Forgetting.objects.create(project=project, kind="text", status="cancelled", created_by_name=MARK)
    Membership.objects.create(project=project, user=User.objects.create_user("bea"), role="viewer")
    create_invitation(project, "viewer", MARK, "ann")
    saved = SavedFilter.objects.create(project=project, name=MARK, text=MARK, created_by_name=MARK)
    alert = Alert.objects.create(
        project=project, saved_filter=saved, limit_percent=5, window_minutes=60, least_turns=1, channel="hook",
        target="https://hooks.example/", created_by_name=MARK,
    )  # fmt: skip
    create_key(project, MARK, "viewer")
    return Scene(
        project,
        {
            "session_id": session.session_id,
            "request_id": later.request_id,
            "layer_unit_id": LayerUnit.objects.values_list("unit_id", flat=True)[0],
            "unit_id": f"unit-{session.pk}-1",
            "ref": "frame-0",
            "number": "1",
            "place": "0",
            "kb_id": base.kb_id,
            "source_id": source.source_id,
            "experiment_id": trials.experiment_id,
            "forgetting_id": act.forgetting_id,
            "suite_id": suite.suite_id,
            "test_id": test.test_id,
            "run_id": ran.experiment_id,
            "filter_id": saved.filter_id,
            "alert_id": alert.alert_id,
            "slug": project.slug,
            "name": "bea",
            "key": str(Invitation.objects.get().pk),
            "key_pk": str(ApiKey.objects.get().pk),
        },
    )
