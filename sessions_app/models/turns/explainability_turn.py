"""One run of the machine: its entry in the registry, the events it emitted, and the payloads behind them."""

from django.db import models
from django.utils import timezone

from sessions_app.identifiers import new_request_id
from sessions_app.models.fields import IdField
from sessions_app.models.redacted import RedactedCharField, RedactedJSONField, RedactedTextField
from sessions_app.models.sessions.session import Session
from sessions_app.models.turns.compression import CompressedJSONField
from sessions_app.models.turns.turn_conditions import TurnConditions


class TurnsOfConversations(models.Manager["ExplainabilityTurn"]):
    """Turns that belong to a conversation; traces of trials are left out."""

    def get_queryset(self) -> models.QuerySet["ExplainabilityTurn"]:
        """Return the turns without those of trials."""
        return super().get_queryset().filter(trial_number=0)


class ExplainabilityTurn(models.Model):
    """The registry's entry of one turn, whatever its end.

    A row whose `status` is running holds the session's turn slot: a partial unique constraint allows one per session.
    `view` and `conditions` together hold all that a turn saw, so that it can be run again.
    """

    class Status(models.TextChoices):
        """How the turn stands."""

        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        INTERRUPTED = "interrupted"
        CANCELLED = "cancelled"

    class Kind(models.TextChoices):
        """What ran: the machine, a command answered without it, or another application that sent its trace."""

        CHAT = "chat"
        COMMAND = "command"
        IMPORTED = "imported"

    class AnswerStatus(models.TextChoices):
        """Outcome of the question."""

        ANSWERED = "answered"
        NO_CONTEXT = "no-context"
        FAILED = "failed"

    class AnswerBasis(models.TextChoices):
        """What the answer rests on, the strongest of its groups; empty without an answer."""

        STATED = "stated"
        COMPOSED = "composed"
        QUOTED = "quoted"
        NONE = "none"

    class Outcome(models.TextChoices):
        """Outcome of the turn in lists; empty while it runs."""

        ANSWERED = "answered"
        QUOTED = "quoted"
        NO_ANSWER = "no-answer"
        NOTED = "noted"
        NOTHING_ASKED = "nothing-asked"
        FAILED = "failed"
        STOPPED = "stopped"
        INTERRUPTED = "interrupted"
        COMMAND = "command"

    UNANSWERED = (Outcome.NO_ANSWER, Outcome.QUOTED)
    """Outcomes of questions that nothing answers; at best the closest passage was shown."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, db_index=False, related_name="turns")
    request_id = IdField(unique=True, default=new_request_id)
    turn_index = models.PositiveIntegerField(
        help_text="Number within the session; a trial has that of the turn it repeats."
    )
    trial_number = models.PositiveBigIntegerField(
        default=0, editable=False, help_text="Key of the trial whose trace this is; 0: a turn of the conversation."
    )
    trace_id = models.CharField(max_length=32, default="", blank=True, help_text="W3C trace id; empty without tracing.")
    kind = models.CharField(
        max_length=10,
        choices=Kind,
        default=Kind.CHAT,
        help_text="chat: run by the machine; command: answered without it; imported: received as a trace.",
    )
    status = models.CharField(max_length=12, choices=Status, default=Status.RUNNING)
    answer_status = models.CharField(  # noqa: DJ001
        max_length=12, choices=AnswerStatus, null=True, blank=True, help_text="Empty while the turn runs."
    )
    answer_basis = models.CharField(
        max_length=8,
        choices=AnswerBasis,
        default="",
        blank=True,
        help_text="What the answer rests on, the strongest of its groups; empty without an answer.",
    )
    outcome = models.CharField(
        max_length=13,
        choices=Outcome,
        default="",
        blank=True,
        help_text="Result shown in lists; empty while the turn runs.",
    )
    is_rewritten = models.BooleanField(default=False, help_text="Whether the search used a rewritten message.")
    left_out_count = models.PositiveIntegerField(
        default=0, help_text="Messages and texts that a limit kept out of the context."
    )
    token_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="Input and output tokens of its model calls; empty without one."
    )
    model_usage = models.JSONField(
        null=True, blank=True, help_text="[model, input tokens, output tokens] for each model."
    )
    cited_sources = models.JSONField(default=list, blank=True, help_text="Turn or source of each mark in the answer.")
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True, help_text="Empty while the turn runs.")
    duration_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="Milliseconds; empty while the turn runs."
    )
    lease_until = models.DateTimeField(
        null=True, blank=True, help_text="A running turn counts as abandoned after this time."
    )
    process = models.BigIntegerField(
        null=True, blank=True, help_text="Key of the lock that its process holds while it lives; empty with SQLite."
    )
    cancel_requested_at = models.DateTimeField(
        null=True, blank=True, help_text="When somebody asked to stop the turn; empty: nobody did."
    )
    payloads_removed_at = models.DateTimeField(
        null=True, blank=True, help_text="When retention removed the payloads; the structure stays."
    )
    exchanges_removed_at = models.DateTimeField(
        null=True, blank=True, help_text="When retention removed the requests to models."
    )

    user_message = RedactedTextField()
    asked_by = models.CharField(
        max_length=150, default="", blank=True, help_text="Name of the user or API key; empty for the server itself."
    )
    assistant_preview = RedactedCharField(max_length=240, default="", blank=True, help_text="Beginning of the answer.")
    planner_plugin = models.CharField(  # noqa: DJ001
        max_length=100, null=True, blank=True, help_text="Plugin that planned the turn; empty where it came to none."
    )
    seed_detector_plugin = models.CharField(  # noqa: DJ001
        max_length=100,
        null=True,
        blank=True,
        help_text="Plugin that read the message; empty where the turn came to none.",
    )
    kb_plugin = models.CharField(  # noqa: DJ001
        max_length=100,
        null=True,
        blank=True,
        help_text="Plugin that retrieved the evidence; empty where the turn came to none.",
    )
    goal_solver_plugin = models.CharField(  # noqa: DJ001
        max_length=100, null=True, blank=True, help_text="Plugin that answered; empty without an answer."
    )
    deliberation_level = models.PositiveSmallIntegerField(default=0, help_text="0 to 3.")
    model = models.CharField(  # noqa: DJ001
        max_length=200,
        null=True,
        blank=True,
        help_text="Model that the request or session asked for; empty: that of each role.",
    )
    is_grounded = models.BooleanField(
        default=True, help_text="Off when part of the answer rests on a model's own knowledge."
    )
    response_document = CompressedJSONField(
        null=True, blank=True, help_text="The answer with its evidence, compressed JSON."
    )
    command_result = RedactedJSONField(
        null=True, blank=True, help_text="Result of a typed command, whoever answered it."
    )
    context_report = CompressedJSONField(
        null=True, blank=True, help_text="What the model saw and what was cut, compressed JSON."
    )
    client_request = RedactedJSONField(
        null=True, blank=True, help_text="Further fields of a client's request, and the warnings it got."
    )
    unit_changes = RedactedJSONField(
        default=dict, blank=True, help_text="Units that the turn added, deduplicated, discarded and evicted."
    )
    error = RedactedJSONField(
        null=True, blank=True, help_text="Code, message and details; empty unless the turn failed or was stopped."
    )
    view = CompressedJSONField(
        null=True, blank=True, help_text="What the turn saw, compressed JSON; needed to run it again."
    )
    conditions = models.ForeignKey(
        TurnConditions,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        db_index=False,
        related_name="+",
        help_text="Settings it shares with other turns; needed to run it again.",
    )

    objects = TurnsOfConversations()
    with_trials: models.Manager["ExplainabilityTurn"] = models.Manager()

    class Meta:
        ordering = ["session_id", "turn_index"]
        constraints = [
            models.UniqueConstraint(fields=["session", "turn_index", "trial_number"], name="turn_index_unique"),
            models.UniqueConstraint(
                fields=["session"], condition=models.Q(status="running"), name="turn_one_running_a_session"
            ),
        ]
        indexes = [
            models.Index(fields=["lease_until"], condition=models.Q(status="running"), name="turn_running_lease"),
            models.Index(fields=["created_at"], name="turn_by_time"),
            models.Index(fields=["outcome", "id"], name="turn_by_outcome"),
            models.Index(fields=["id"], condition=models.Q(is_rewritten=True), name="turn_rewritten"),
            models.Index(fields=["id"], condition=models.Q(left_out_count__gt=0), name="turn_left_out"),
            models.Index(fields=["id"], condition=models.Q(duration_ms__gt=1_000), name="turn_slow"),
            models.Index(fields=["id"], condition=models.Q(kind="imported"), name="turn_imported"),
            models.Index(fields=["trial_number"], condition=models.Q(trial_number__gt=0), name="turn_of_trial"),
            models.Index(fields=["trace_id"], condition=~models.Q(trace_id=""), name="turn_by_trace"),
            models.Index(
                fields=["created_at"], condition=models.Q(payloads_removed_at__isnull=True), name="turn_with_payloads"
            ),
        ]

    def __str__(self) -> str:
        return f"turn {self.turn_index}: {self.status}"

    @classmethod
    def is_any_running(cls) -> bool:
        """Return whether any process runs a turn; one query, by an index of running turns."""
        running = cls.objects.filter(status=cls.Status.RUNNING)
        return running.filter(lease_until__gte=timezone.now()).exists()

    @classmethod
    def running_in(cls, session: Session) -> "ExplainabilityTurn | None":
        """Return the session's running turn whose lease is still good."""
        return cls.objects.filter(session=session, status=cls.Status.RUNNING, lease_until__gte=timezone.now()).first()

    @property
    def is_running(self) -> bool:
        """Return whether the turn has not ended yet."""
        return self.status == self.Status.RUNNING

    @property
    def record_key(self) -> tuple[int, *tuple[object, ...]]:
        """Return the key under which caches hold the record of an ended turn.

        The primary key may be used again after a deletion, the request id is not. Of an imported trace more may come:
        its session, which may be another one then, has a new event each time.
        """
        is_imported = self.kind == self.Kind.IMPORTED
        return self.pk, self.request_id, *((self.session_id, self.session.event_sequence) if is_imported else ())

    @property
    def is_trial(self) -> bool:
        """Return whether this is the trace of a trial, and no part of the conversation."""
        return self.trial_number > 0

    @property
    def name(self) -> str:
        """Return what the pages call it: by its place in the session, or in its experiment."""
        return f"Trial {self.trial.position}" if self.is_trial else f"Turn {self.turn_index}"


class TurnEvents(models.Model):
    """A batch of the machine's events in order, and the payloads of the nodes that ended in it.

    The graph is a fold over the events and needs no payload. A step in
    `judged` is `[unit id, step, store, execution id, rank, score, reason]`, and the parts of the score where there are
    any; steps of a unit's life in the session are rows of `UnitEvent`.
    """

    turn = models.ForeignKey(ExplainabilityTurn, on_delete=models.CASCADE, db_index=False, related_name="event_batches")
    first_sequence = models.PositiveIntegerField(help_text="Number of the first event of the batch.")
    events = CompressedJSONField(help_text="Events in order, compressed JSON.")
    payload_index = CompressedJSONField(
        default=list, help_text="Place and length of each payload in payloads, compressed JSON."
    )
    payloads = models.BinaryField(default=bytes, help_text="Empty once retention has removed them.")
    judged = CompressedJSONField(
        null=True,
        blank=True,
        help_text="Ledger steps of retrieval and solving, compressed JSON; only in the last batch.",
    )

    class Meta:
        ordering = ["turn_id", "first_sequence"]
        verbose_name_plural = "turn events"
        constraints = [models.UniqueConstraint(fields=["turn", "first_sequence"], name="turn_events_sequence")]

    def __str__(self) -> str:
        return f"events from {self.first_sequence}"
