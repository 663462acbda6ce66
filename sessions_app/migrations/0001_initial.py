"""The tables of all models, and the index of words that `sessions_app.layers.words` describes."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.migrations.operations.base import Operation

_CREATE_UNIT_WORDS = {
    "sqlite": (
        "CREATE VIRTUAL TABLE sessions_app_unitwords USING fts5"
        "(layer, words, tokenize = 'unicode61 remove_diacritics 0')",
        "CREATE TRIGGER sessions_app_unitwords_gone AFTER DELETE ON sessions_app_layerunit "
        "BEGIN DELETE FROM sessions_app_unitwords WHERE rowid = old.id; END",
    ),
    "postgresql": (
        "CREATE TABLE sessions_app_unitwords (unit_id bigint PRIMARY KEY, words tsvector NOT NULL)",
        "CREATE INDEX sessions_app_unitwords_words ON sessions_app_unitwords USING gin (words)",
        "CREATE FUNCTION sessions_app_unitwords_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF TG_OP = 'TRUNCATE' THEN TRUNCATE sessions_app_unitwords; "
        "ELSE DELETE FROM sessions_app_unitwords WHERE unit_id = OLD.id; END IF; RETURN NULL; END $$",
        "CREATE TRIGGER sessions_app_unitwords_gone AFTER DELETE ON sessions_app_layerunit "
        "FOR EACH ROW EXECUTE FUNCTION sessions_app_unitwords_gone()",
        "CREATE TRIGGER sessions_app_unitwords_emptied AFTER TRUNCATE ON sessions_app_layerunit "
        "FOR EACH STATEMENT EXECUTE FUNCTION sessions_app_unitwords_gone()",
    ),
}
_DROP_UNIT_WORDS = {
    "sqlite": ("DROP TRIGGER sessions_app_unitwords_gone", "DROP TABLE sessions_app_unitwords"),
    "postgresql": (
        "DROP TRIGGER sessions_app_unitwords_gone ON sessions_app_layerunit",
        "DROP TRIGGER sessions_app_unitwords_emptied ON sessions_app_layerunit",
        "DROP FUNCTION sessions_app_unitwords_gone",
        "DROP TABLE sessions_app_unitwords",
    ),
}


def create_unit_words(apps, schema_editor):
    for statement in _CREATE_UNIT_WORDS[schema_editor.connection.vendor]:
        schema_editor.execute(statement, None)


def drop_unit_words(apps, schema_editor):
    for statement in _DROP_UNIT_WORDS[schema_editor.connection.vendor]:
        schema_editor.execute(statement, None)


class CreateTables(Operation):
    """Create the tables of the models that operations declare, each as the last of them leaves it.

    Django makes the classes of all related models again after each operation, which took most of the first start.
    """

    def __init__(self, operations):
        self.operations = operations

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)  # made when the first of its models is asked for
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for model in self._models(app_label, schema_editor, to_state):
            schema_editor.create_model(model)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for model in reversed(self._models(app_label, schema_editor, from_state)):
            schema_editor.delete_model(model)

    def _models(self, app_label, schema_editor, state):
        named = (operation.name for operation in self.operations if isinstance(operation, migrations.CreateModel))
        models_ = (state.apps.get_model(app_label, name) for name in named)
        return [model for model in models_ if self.allow_migrate_model(schema_editor.connection.alias, model)]


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CountedTurns",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "newest_turn",
                    models.PositiveBigIntegerField(
                        default=0, help_text="Every turn up to this key is counted, except in waiting hours."
                    ),
                ),
                (
                    "waiting_hours",
                    models.JSONField(default=list, help_text="Hours in ISO 8601 with turns that have not finished."),
                ),
                ("counted_at", models.DateTimeField(help_text="Last run of the count; empty: never.", null=True)),
            ],
            options={
                "verbose_name_plural": "counted turns",
            },
        ),
        migrations.CreateModel(
            name="DamagedValue",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("table", models.CharField(help_text="Table the value was read from.", max_length=100)),
                ("column", models.CharField(help_text="Column the value was read from.", max_length=100)),
                ("row_key", models.CharField(help_text="Primary key of the row.", max_length=100)),
                ("raw", models.BinaryField(help_text="The bytes as they were stored.")),
                ("found_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="ExplainabilityTurn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "request_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and requests.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                (
                    "turn_index",
                    models.PositiveIntegerField(
                        help_text="Number within the session; a trial has that of the turn it repeats."
                    ),
                ),
                (
                    "trial_number",
                    models.PositiveBigIntegerField(
                        default=0,
                        editable=False,
                        help_text="Key of the trial whose trace this is; 0: a turn of the conversation.",
                    ),
                ),
                (
                    "trace_id",
                    models.CharField(
                        blank=True, default="", help_text="W3C trace id; empty without tracing.", max_length=32
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("chat", "Chat"), ("command", "Command"), ("imported", "Imported")],
                        default="chat",
                        help_text="chat: run by the machine; command: answered without it; imported: received as a trace.",
                        max_length=10,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("interrupted", "Interrupted"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="running",
                        max_length=12,
                    ),
                ),
                (
                    "answer_status",
                    models.CharField(
                        blank=True,
                        choices=[("answered", "Answered"), ("no-context", "No Context"), ("failed", "Failed")],
                        help_text="Empty while the turn runs.",
                        max_length=12,
                        null=True,
                    ),
                ),
                (
                    "answer_basis",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("stated", "Stated"),
                            ("composed", "Composed"),
                            ("quoted", "Quoted"),
                            ("none", "None"),
                        ],
                        default="",
                        help_text="What the answer rests on, the strongest of its groups; empty without an answer.",
                        max_length=8,
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("answered", "Answered"),
                            ("quoted", "Quoted"),
                            ("no-answer", "No Answer"),
                            ("noted", "Noted"),
                            ("nothing-asked", "Nothing Asked"),
                            ("failed", "Failed"),
                            ("stopped", "Stopped"),
                            ("interrupted", "Interrupted"),
                            ("command", "Command"),
                        ],
                        default="",
                        help_text="Result shown in lists; empty while the turn runs.",
                        max_length=13,
                    ),
                ),
                (
                    "is_rewritten",
                    models.BooleanField(default=False, help_text="Whether the search used a rewritten message."),
                ),
                (
                    "left_out_count",
                    models.PositiveIntegerField(
                        default=0, help_text="Messages and texts that a limit kept out of the context."
                    ),
                ),
                (
                    "token_count",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Input and output tokens of its model calls; empty without one.",
                        null=True,
                    ),
                ),
                (
                    "model_usage",
                    models.JSONField(
                        blank=True, help_text="[model, input tokens, output tokens] for each model.", null=True
                    ),
                ),
                (
                    "cited_sources",
                    models.JSONField(blank=True, default=list, help_text="Turn or source of each mark in the answer."),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, help_text="Empty while the turn runs.", null=True)),
                (
                    "duration_ms",
                    models.PositiveIntegerField(
                        blank=True, help_text="Milliseconds; empty while the turn runs.", null=True
                    ),
                ),
                (
                    "lease_until",
                    models.DateTimeField(
                        blank=True, help_text="A running turn counts as abandoned after this time.", null=True
                    ),
                ),
                (
                    "process",
                    models.BigIntegerField(
                        blank=True,
                        help_text="Key of the lock that its process holds while it lives; empty with SQLite.",
                        null=True,
                    ),
                ),
                (
                    "cancel_requested_at",
                    models.DateTimeField(
                        blank=True, help_text="When somebody asked to stop the turn; empty: nobody did.", null=True
                    ),
                ),
                (
                    "payloads_removed_at",
                    models.DateTimeField(
                        blank=True, help_text="When retention removed the payloads; the structure stays.", null=True
                    ),
                ),
                (
                    "exchanges_removed_at",
                    models.DateTimeField(
                        blank=True, help_text="When retention removed the requests to models.", null=True
                    ),
                ),
                ("user_message", models.TextField()),
                (
                    "asked_by",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Name of the user or API key; empty for the server itself.",
                        max_length=150,
                    ),
                ),
                (
                    "assistant_preview",
                    models.CharField(blank=True, default="", help_text="Beginning of the answer.", max_length=240),
                ),
                (
                    "planner_plugin",
                    models.CharField(
                        blank=True,
                        help_text="Plugin that planned the turn; empty where it came to none.",
                        max_length=100,
                        null=True,
                    ),
                ),
                (
                    "seed_detector_plugin",
                    models.CharField(
                        blank=True,
                        help_text="Plugin that read the message; empty where the turn came to none.",
                        max_length=100,
                        null=True,
                    ),
                ),
                (
                    "kb_plugin",
                    models.CharField(
                        blank=True,
                        help_text="Plugin that retrieved the evidence; empty where the turn came to none.",
                        max_length=100,
                        null=True,
                    ),
                ),
                (
                    "goal_solver_plugin",
                    models.CharField(
                        blank=True,
                        help_text="Plugin that answered; empty without an answer.",
                        max_length=100,
                        null=True,
                    ),
                ),
                ("deliberation_level", models.PositiveSmallIntegerField(default=0, help_text="0 to 3.")),
                (
                    "model",
                    models.CharField(
                        blank=True,
                        help_text="Model that the request or session asked for; empty: that of each role.",
                        max_length=200,
                        null=True,
                    ),
                ),
                (
                    "is_grounded",
                    models.BooleanField(
                        default=True, help_text="Off when part of the answer rests on a model's own knowledge."
                    ),
                ),
                (
                    "response_document",
                    models.BinaryField(
                        blank=True, help_text="The answer with its evidence, compressed JSON.", null=True
                    ),
                ),
                (
                    "command_result",
                    models.JSONField(
                        blank=True, help_text="Result of a typed command, whoever answered it.", null=True
                    ),
                ),
                (
                    "context_report",
                    models.BinaryField(
                        blank=True, help_text="What the model saw and what was cut, compressed JSON.", null=True
                    ),
                ),
                (
                    "client_request",
                    models.JSONField(
                        blank=True,
                        help_text="Further fields of a client's request, and the warnings it got.",
                        null=True,
                    ),
                ),
                (
                    "unit_changes",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Units that the turn added, deduplicated, discarded and evicted.",
                    ),
                ),
                (
                    "error",
                    models.JSONField(
                        blank=True,
                        help_text="Code, message and details; empty unless the turn failed or was stopped.",
                        null=True,
                    ),
                ),
                (
                    "view",
                    models.BinaryField(
                        blank=True, help_text="What the turn saw, compressed JSON; needed to run it again.", null=True
                    ),
                ),
            ],
            options={
                "ordering": ["session_id", "turn_index"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "running")), fields=["lease_until"], name="turn_running_lease"
                    ),
                    models.Index(fields=["created_at"], name="turn_by_time"),
                    models.Index(fields=["outcome", "id"], name="turn_by_outcome"),
                    models.Index(condition=models.Q(("is_rewritten", True)), fields=["id"], name="turn_rewritten"),
                    models.Index(condition=models.Q(("left_out_count__gt", 0)), fields=["id"], name="turn_left_out"),
                    models.Index(condition=models.Q(("duration_ms__gt", 1000)), fields=["id"], name="turn_slow"),
                    models.Index(condition=models.Q(("kind", "imported")), fields=["id"], name="turn_imported"),
                    models.Index(
                        condition=models.Q(("trial_number__gt", 0)), fields=["trial_number"], name="turn_of_trial"
                    ),
                    models.Index(
                        condition=models.Q(("trace_id", ""), _negated=True), fields=["trace_id"], name="turn_by_trace"
                    ),
                    models.Index(
                        condition=models.Q(("payloads_removed_at__isnull", True)),
                        fields=["created_at"],
                        name="turn_with_payloads",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PluginFailure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("plugin_id", models.CharField(max_length=100)),
                (
                    "event",
                    models.CharField(
                        help_text="Type of the notification; source-text for a stored source.", max_length=40
                    ),
                ),
                ("error", models.TextField(help_text="The message, without secrets; a long one is cut.")),
                (
                    "session_id",
                    models.CharField(
                        blank=True, default="", help_text="Empty where it concerned no session.", max_length=128
                    ),
                ),
                (
                    "kb_id",
                    models.CharField(
                        blank=True, default="", help_text="Empty where it concerned no base.", max_length=64
                    ),
                ),
                (
                    "source_id",
                    models.CharField(
                        blank=True, default="", help_text="Empty where it concerned no source.", max_length=128
                    ),
                ),
                ("occurred_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="DatabaseVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.CharField(help_text="Version of the server.", max_length=40)),
                (
                    "latest_migration",
                    models.CharField(help_text="Newest migration that this version has.", max_length=200),
                ),
                (
                    "prepared_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="When this version first prepared the database."
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(fields=("version", "latest_migration"), name="database_version_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="KnowledgeLayer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("base", "Base"),
                            ("draft", "Draft"),
                            ("journal", "Journal"),
                            ("context", "Context"),
                            ("staged", "Staged"),
                            ("index", "Index"),
                            ("removed", "Removed"),
                        ],
                        default="base",
                        help_text="Part of a base or of a session; staged and removed layers are in no present view.",
                        max_length=8,
                    ),
                ),
                (
                    "ancestry",
                    models.JSONField(blank=True, default=list, help_text="Ids of the layers below, the nearest first."),
                ),
                (
                    "index_version",
                    models.CharField(
                        help_text="Version of the indexing rules of the layer's own units: the oldest where several were at work.",
                        max_length=80,
                    ),
                ),
                ("unit_count", models.PositiveIntegerField(default=0, help_text="Units seen from here.")),
                (
                    "evidence_count",
                    models.PositiveIntegerField(default=0, help_text="Units of evidence seen from here."),
                ),
                (
                    "term_count",
                    models.PositiveBigIntegerField(
                        default=0, help_text="Sum of the lengths of the evidence units seen from here."
                    ),
                ),
                ("source_count", models.PositiveIntegerField(default=0, help_text="Sources seen from here.")),
                ("own_unit_count", models.PositiveIntegerField(default=0, help_text="Units stored in this layer.")),
                ("own_source_count", models.PositiveIntegerField(default=0, help_text="Sources stored in this layer.")),
                (
                    "removed_unit_count",
                    models.PositiveIntegerField(default=0, help_text="Units of layers below that this layer removes."),
                ),
                (
                    "sealed_at",
                    models.DateTimeField(blank=True, help_text="Empty while the layer can change.", null=True),
                ),
                (
                    "erased_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When an act of forgetting last deleted units of the layer; empty: never.",
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "worked_at",
                    models.DateTimeField(
                        blank=True,
                        default=django.utils.timezone.now,
                        help_text="Staged layers only: when it was last written to; empty while it is being removed.",
                        null=True,
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        help_text="The layer below; empty at the bottom.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="children",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "postings_layer",
                    models.ForeignKey(
                        blank=True,
                        help_text="Layer under whose key rewritten postings are stored; empty: this one.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "removed_from",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="For a removed layer: the layer it goes with.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="removals",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("removed_from__isnull", False)),
                        fields=["removed_from"],
                        name="layer_removed_from",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="KnowledgeBase",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kb_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and requests.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("is_default", models.BooleanField(default=False, help_text="New sessions mount it.")),
                ("revision", models.PositiveIntegerField(default=1, help_text="Number of the newest revision.")),
                ("source_count", models.PositiveIntegerField(default=0, help_text="Sources that the head shows.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "compaction_asked_at",
                    models.DateTimeField(
                        blank=True, help_text="Set while a compaction of the layers is wanted.", null=True
                    ),
                ),
                (
                    "deleted_at",
                    models.DateTimeField(
                        blank=True, help_text="Set when deleted: it cannot be mounted, and can be restored.", null=True
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        help_text="The base this one was forked from.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="forks",
                        to="sessions_app.knowledgebase",
                    ),
                ),
                (
                    "head",
                    models.ForeignKey(
                        help_text="The layer that a mount sees.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="headed_bases",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
            ],
            options={
                "ordering": ["-is_default", "name", "id"],
            },
        ),
        migrations.CreateModel(
            name="KBRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField(help_text="Number within the base, counted from 1.")),
                (
                    "reason",
                    models.CharField(help_text="What made the revision, such as a save or a restore.", max_length=40),
                ),
                (
                    "origin_revision",
                    models.PositiveIntegerField(
                        blank=True, help_text="Revision of the origin base; empty where there is none.", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: an API key or the server itself, or the user was deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "knowledge_base",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="revisions",
                        to="sessions_app.knowledgebase",
                    ),
                ),
                (
                    "origin_base",
                    models.ForeignKey(
                        blank=True,
                        help_text="For a fork or save from another base: the base it continues.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="descendants",
                        to="sessions_app.knowledgebase",
                    ),
                ),
                (
                    "layer",
                    models.ForeignKey(
                        help_text="The layer that was the head.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
            ],
            options={
                "verbose_name": "KB revision",
                "ordering": ["knowledge_base_id", "-revision"],
                "constraints": [
                    models.UniqueConstraint(fields=("knowledge_base", "revision"), name="kb_revision_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="KnowledgeSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "source_id",
                    models.CharField(
                        help_text="The same in every layer that holds a version of the source.", max_length=128
                    ),
                ),
                ("name", models.CharField(help_text="Name of the file or text.", max_length=300)),
                (
                    "kind",
                    models.CharField(
                        default="source",
                        help_text="source: listed; conversation-journal: what a session saved; removed: no source of this id any more.",
                        max_length=24,
                    ),
                ),
                ("content", models.TextField(help_text="Text of the source; empty for a journal.")),
                ("hash", models.CharField(help_text="SHA-256 of the content.", max_length=64)),
                ("chunk_count", models.PositiveIntegerField(default=0, help_text="Pieces that its text was cut into.")),
                (
                    "unit_count",
                    models.PositiveIntegerField(default=0, help_text="Units made from it; for a journal, units saved."),
                ),
                ("text_byte_count", models.PositiveBigIntegerField(default=0, help_text="Bytes of text in its units.")),
                (
                    "added_at",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="When the source first came in."),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now,
                        help_text="When this version came in; the latest in a chain counts.",
                    ),
                ),
                (
                    "layer",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sources",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
            ],
            options={
                "ordering": ["layer_id", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("layer", "source_id"), name="source_id_unique_in_layer")
                ],
            },
        ),
        migrations.CreateModel(
            name="LayerUnit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit_id", models.CharField(help_text="Id that answers cite.", max_length=400)),
                (
                    "ku_type",
                    models.CharField(
                        default="atomic", help_text="How much it covers: atomic, composite or aggregate.", max_length=10
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        help_text="What kind of statement it is, such as Definition or Procedure.", max_length=12
                    ),
                ),
                ("topic", models.TextField(help_text="What the unit is about.")),
                ("title", models.TextField(blank=True, help_text="Empty where none was given.", null=True)),
                ("claim", models.TextField(blank=True, help_text="What it states; empty for a procedure.", null=True)),
                (
                    "procedure",
                    models.TextField(blank=True, help_text="How something is done; empty for a claim.", null=True),
                ),
                (
                    "condition",
                    models.TextField(blank=True, help_text="When the claim holds; empty: always.", null=True),
                ),
                (
                    "text_body",
                    models.TextField(blank=True, help_text="Complete text; empty: its claim or procedure.", null=True),
                ),
                (
                    "subject",
                    models.TextField(
                        blank=True, help_text="Subject of the fact, where the unit states one.", null=True
                    ),
                ),
                (
                    "relation",
                    models.CharField(blank=True, help_text="Relation of subject and object.", max_length=20, null=True),
                ),
                ("object", models.TextField(blank=True, help_text="Object of the fact.", null=True)),
                (
                    "confidence",
                    models.FloatField(blank=True, help_text="0 to 1; empty where none was given.", null=True),
                ),
                (
                    "source_id",
                    models.CharField(help_text="Id of its source; the turn for what a message stated.", max_length=200),
                ),
                (
                    "chunk_id",
                    models.CharField(help_text="Id of the chunk that the unit was made from.", max_length=300),
                ),
                ("hash", models.CharField(help_text="Units with the same hash say the same.", max_length=64)),
                (
                    "utility_acts",
                    models.JSONField(
                        blank=True, default=list, help_text="Acts of intents that the unit is useful for."
                    ),
                ),
                (
                    "phase_scopes",
                    models.JSONField(
                        blank=True, default=list, help_text="Phases that the unit is for; `kb-plugin` means evidence."
                    ),
                ),
                (
                    "provenance",
                    models.JSONField(
                        blank=True, default=dict, help_text="Where its text is, and other fields that no query uses."
                    ),
                ),
                (
                    "length",
                    models.PositiveIntegerField(
                        default=0, help_text="Sum of its postings' frequencies; 0 unless it is evidence."
                    ),
                ),
                ("is_evidence", models.BooleanField(default=True, help_text="Whether searches find it.")),
                ("is_guidance", models.BooleanField(default=False, help_text="Whether it guides plugins.")),
                (
                    "stretch",
                    models.BigIntegerField(
                        blank=True,
                        help_text="Run of neighbouring utterances it is part of; empty unless it was said in a conversation.",
                        null=True,
                    ),
                ),
                (
                    "place",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Place in its conversation, counted from 0; empty unless it was said in one.",
                        null=True,
                    ),
                ),
                (
                    "layer",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="units",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "origin",
                    models.ForeignKey(
                        blank=True,
                        help_text="Source the unit was made from.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="units",
                        to="sessions_app.knowledgesource",
                    ),
                ),
            ],
            options={
                "ordering": ["layer_id", "id"],
                "indexes": [
                    models.Index(fields=["layer", "hash"], name="layer_unit_by_hash"),
                    models.Index(
                        condition=models.Q(("is_guidance", True)), fields=["layer"], name="layer_unit_guidance"
                    ),
                    models.Index(
                        condition=models.Q(("stretch__isnull", False)),
                        fields=["layer", "stretch"],
                        name="layer_unit_by_stretch",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("layer", "unit_id"), name="unit_id_unique_in_layer")],
            },
        ),
        migrations.CreateModel(
            name="HiddenUnit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "change",
                    models.CharField(
                        choices=[
                            ("removed", "Removed: its source is gone"),
                            ("duplicate", "Duplicate: a unit with the same hash is shown in its place"),
                            ("revealed", "Revealed: the unit that was shown in its place is gone"),
                            ("stale", "Stale: what it was derived from is gone"),
                        ],
                        default="removed",
                        help_text="What the layer does to a unit of a layer below.",
                        max_length=9,
                    ),
                ),
                (
                    "layer",
                    models.ForeignKey(
                        db_index=False,
                        help_text="The layer that makes the change, for itself and all layers above.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hidden_units",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "unit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hidden_in",
                        to="sessions_app.layerunit",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("layer", "unit"), name="hidden_unit_unique")],
            },
        ),
        migrations.CreateModel(
            name="Derivation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "origin_unit_id",
                    models.CharField(help_text="Unit id of what the unit was derived from.", max_length=400),
                ),
                (
                    "layer",
                    models.ForeignKey(
                        db_index=False,
                        help_text="Where the derived unit is.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="derivations",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "unit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="derivations",
                        to="sessions_app.layerunit",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("layer", "origin_unit_id", "unit"), name="derivation_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="LoginLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(help_text="SHA-256 of the link's secret.", max_length=64, unique=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(help_text="The link cannot be used after this time.")),
                (
                    "used_at",
                    models.DateTimeField(blank=True, help_text="Empty: not used yet. A link works once.", null=True),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="login_links",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="PackedLayer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.CharField(help_text="Version of the index and the packing.", max_length=100)),
                ("unit_count", models.PositiveIntegerField(default=0, help_text="Units with a number in the packing.")),
                ("is_complete", models.BooleanField(default=False, help_text="Only a complete packing is read.")),
                (
                    "worked_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="Heartbeat of the process that packs it."
                    ),
                ),
                (
                    "layer",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="packings",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [models.UniqueConstraint(fields=("layer", "version"), name="packed_layer_unique")],
            },
        ),
        migrations.CreateModel(
            name="PackedPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("term", "Term"), ("said", "Said"), ("units", "Units")],
                        help_text="Postings of a term, of what was said with it, or keys of units.",
                        max_length=5,
                    ),
                ),
                ("key", models.BigIntegerField(help_text="Term, or number of the run of units.")),
                ("content", models.BinaryField(help_text="Packed postings or units.")),
                (
                    "packed",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="sessions_app.packedlayer",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [models.UniqueConstraint(fields=("packed", "kind", "key"), name="packed_part_unique")],
            },
        ),
        migrations.CreateModel(
            name="Posting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("term", models.BigIntegerField(help_text="64-bit hash of the stemmed term.")),
                ("frequency", models.PositiveIntegerField(help_text="In tenths, because fields weigh differently.")),
                ("length", models.PositiveIntegerField(help_text="Length of the unit, copied here for the search.")),
                (
                    "layer",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="postings",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "unit",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="postings",
                        to="sessions_app.layerunit",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [models.UniqueConstraint(fields=("layer", "term", "unit"), name="posting_unique")],
            },
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                (
                    "slug",
                    models.SlugField(
                        help_text="Name of the project in addresses and requests.", max_length=80, unique=True
                    ),
                ),
                ("is_default", models.BooleanField(default=False, help_text="Used where a request names no project.")),
                (
                    "grounding",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("open", "Open: the model may answer without evidence, and the answer says so"),
                            ("strict", "Strict: evidence or no answer"),
                        ],
                        default="",
                        help_text="Whether a model may answer without evidence; empty: the server's setting.",
                        max_length=6,
                    ),
                ),
                (
                    "flags",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Policies of the project by name; what is missing has the server's setting.",
                    ),
                ),
                (
                    "redacts_conversations",
                    models.BooleanField(
                        default=False, help_text="Replace secrets in messages and sources before they are stored."
                    ),
                ),
                (
                    "session_memory_limit",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Session memories kept at most; the least recently used go first. Empty: no limit.",
                        null=True,
                    ),
                ),
                (
                    "quotas",
                    models.JSONField(
                        blank=True, default=dict, help_text="Limits by `QuotaKind`; what is missing is not limited."
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_default", True)), fields=("is_default",), name="project_one_default"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PluginStatistics",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "plugin_type",
                    models.CharField(help_text="Type by its manifest, such as mrp-plan-plugin.", max_length=20),
                ),
                ("plugin_id", models.CharField(max_length=100)),
                ("attempt_count", models.PositiveIntegerField(help_text="Calls in turns, however they ended.")),
                (
                    "success_count",
                    models.PositiveIntegerField(
                        help_text="Attempts that succeeded; a rejection by a validator is one."
                    ),
                ),
                (
                    "failure_count",
                    models.PositiveIntegerField(help_text="Attempts that failed or whose result a validator rejected."),
                ),
                (
                    "refusal_count",
                    models.PositiveIntegerField(
                        help_text="Attempts that ended as insufficient, or as no-context for a planner."
                    ),
                ),
                ("success", models.FloatField(help_text="Moving average, 0 to 1.")),
                ("sufficiency", models.FloatField(help_text="Moving average, 0 to 1.")),
                ("latency_ms", models.FloatField(help_text="Moving average.")),
                ("llm_calls", models.FloatField(help_text="Moving average of model calls an attempt.")),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="plugin_statistics",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "plugin statistics",
                "ordering": ["project_id", "plugin_type", "plugin_id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "plugin_type", "plugin_id"), name="plugin_statistics_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(help_text="Day in UTC.")),
                ("model", models.CharField(help_text="Name of the model that was called.", max_length=200)),
                ("input_tokens", models.PositiveBigIntegerField(default=0, help_text="What the day's requests held.")),
                ("output_tokens", models.PositiveBigIntegerField(default=0, help_text="What the model answered.")),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_uses",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "ordering": ["project_id", "-day", "model"],
                "constraints": [models.UniqueConstraint(fields=("project", "day", "model"), name="model_use_once")],
            },
        ),
        migrations.CreateModel(
            name="ModelRoles",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("config", models.JSONField(default=dict, help_text="Model and sampling by role and plugin.")),
                (
                    "updated_at",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="When the table was last set."),
                ),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_roles",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "model roles",
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "Viewer: reads"),
                            ("editor", "Editor: runs turns and writes"),
                            ("admin", "Admin: manages keys, members and settings"),
                        ],
                        default="editor",
                        help_text="Each role may all that the ones before it may: viewer, editor, admin.",
                        max_length=10,
                    ),
                ),
                (
                    "shown_at",
                    models.DateTimeField(
                        blank=True, editable=False, help_text="When the user last switched to the project.", null=True
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "ordering": ["project_id", "user_id"],
                "constraints": [models.UniqueConstraint(fields=("project", "user"), name="membership_unique")],
            },
        ),
        migrations.AddField(
            model_name="knowledgebase",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="knowledge_bases", to="sessions_app.project"
            ),
        ),
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("caller", models.CharField(help_text="User or API key.", max_length=40)),
                ("key", models.CharField(help_text="Idempotency-Key of the request.", max_length=255)),
                (
                    "fingerprint",
                    models.CharField(
                        help_text="SHA-256 of the request; another request under the key is refused.", max_length=64
                    ),
                ),
                (
                    "status",
                    models.PositiveSmallIntegerField(
                        help_text="HTTP status; empty while the first request runs.", null=True
                    ),
                ),
                ("headers", models.JSONField(default=dict, help_text="Headers of the answer that is sent again.")),
                ("body", models.BinaryField(default=bytes, help_text="Body of the answer that is sent again.")),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "caller", "key"), name="kept_answer_once")],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "Viewer: reads"),
                            ("editor", "Editor: runs turns and writes"),
                            ("admin", "Admin: manages keys, members and settings"),
                        ],
                        default="editor",
                        max_length=10,
                    ),
                ),
                ("note", models.CharField(blank=True, help_text="Whom the link is for.", max_length=120)),
                ("digest", models.CharField(help_text="SHA-256 of the link's secret.", max_length=64, unique=True)),
                (
                    "created_by_name",
                    models.CharField(help_text="Who made it, also after that user is gone.", max_length=150),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(help_text="It cannot be used after this time.")),
                ("used_by_name", models.CharField(blank=True, help_text="Empty until it is accepted.", max_length=150)),
                (
                    "used_at",
                    models.DateTimeField(
                        blank=True, help_text="Empty: not used yet. An invitation works once.", null=True
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="ImportedSpan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("trace_id", models.CharField(help_text="32 hex digits.", max_length=32)),
                ("span_id", models.CharField(help_text="16 hex digits.", max_length=16)),
                (
                    "span",
                    models.BinaryField(help_text="`ReceivedSpan` as compressed JSON."),
                ),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "turn",
                    models.ForeignKey(
                        blank=True,
                        help_text="Turn of the trace; empty until it is drawn and once it is deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="imported_spans",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="imported_spans",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "trace_id", "span_id"), name="imported_span_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="FrozenContent",
            fields=[
                (
                    "key",
                    models.CharField(
                        help_text="Key of the project and SHA-256 of the content.",
                        max_length=90,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("skills", "Skills"), ("personas", "Personas"), ("agents", "Agents")],
                        help_text="What sessions take over: skills, personas or agents.",
                        max_length=8,
                    ),
                ),
                ("content", models.JSONField(help_text="The catalogue as it was read from files.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "unused_since",
                    models.DateTimeField(
                        blank=True, help_text="When the sweep first found that no session uses it.", null=True
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="frozen_contents",
                        to="sessions_app.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Forgetting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "created_by_name",
                    models.CharField(help_text="Name of the user or API key; outlives the user.", max_length=150),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "forgetting_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and requests.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("message", "Message"),
                            ("unit", "Unit"),
                            ("source", "Source"),
                            ("session", "Session"),
                            ("text", "Text"),
                            ("words", "Words"),
                        ],
                        help_text="What was chosen to be forgotten.",
                        max_length=7,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("planning", "Planning"),
                            ("planned", "Planned"),
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("incomplete", "Incomplete"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="planning",
                        max_length=10,
                    ),
                ),
                ("subject", models.JSONField(default=dict, help_text="Ids of what was chosen; empty for a text.")),
                (
                    "work",
                    models.JSONField(
                        blank=True,
                        help_text="Texts and rows to remove, as `Work` returns them; empty once the act has ended.",
                        null=True,
                    ),
                ),
                ("before", models.JSONField(default=dict, help_text="Rows found by table when it was planned.")),
                (
                    "after",
                    models.JSONField(
                        blank=True, help_text="Rows found by a search of all tables and files at the end.", null=True
                    ),
                ),
                ("notes", models.JSONField(default=list, help_text="Sentences about before and after.")),
                ("error", models.JSONField(blank=True, help_text="Why it failed; empty otherwise.", null=True)),
                ("stage", models.CharField(blank=True, default="", help_text="Current step.", max_length=60)),
                ("row_count", models.PositiveBigIntegerField(default=0, help_text="Rows read so far.")),
                (
                    "began_at",
                    models.DateTimeField(blank=True, help_text="When removal began; empty for a plan.", null=True),
                ),
                ("finished_at", models.DateTimeField(blank=True, help_text="Empty until it has ended.", null=True)),
                (
                    "lease_until",
                    models.DateTimeField(
                        blank=True, help_text="A running act counts as abandoned after this time.", null=True
                    ),
                ),
                (
                    "cancel_requested_at",
                    models.DateTimeField(
                        blank=True, help_text="When somebody asked to stop it; empty: nobody did.", null=True
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="Empty: an API key or a command of the server, or the user was deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="forgettings",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["project", "-id"], name="forgetting_of_project"),
                    models.Index(
                        condition=models.Q(("status__in", ["planning", "running"])),
                        fields=["lease_until"],
                        name="forgetting_lease",
                    ),
                    models.Index(
                        condition=models.Q(("began_at__isnull", False)), fields=["began_at"], name="forgetting_by_time"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "at",
                    models.DateTimeField(
                        db_index=True, default=django.utils.timezone.now, help_text="When it was done."
                    ),
                ),
                ("kind", models.CharField(help_text="What was done, such as base.saved.", max_length=40)),
                ("actor_kind", models.CharField(help_text="user, key, stranger or server.", max_length=10)),
                ("actor", models.CharField(help_text="Name at that time.", max_length=200)),
                ("address", models.CharField(help_text="Client address; empty for the server itself.", max_length=45)),
                (
                    "request_id",
                    models.CharField(
                        help_text="Id of the request in the log; empty outside of requests.", max_length=128
                    ),
                ),
                ("subject", models.CharField(help_text="Name or id of what was changed.", max_length=300)),
                ("facts", models.JSONField(default=dict, help_text="What was changed, by field.")),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="Empty for what concerns the whole server.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["project", "id"], name="audit_entry_project")],
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        help_text="What the key is for; requests made with it carry the name.", max_length=120
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("chat", "Chat: runs turns in conversations that the key started"),
                            ("viewer", "Viewer: reads"),
                            ("editor", "Editor: runs turns and writes"),
                            ("admin", "Admin: manages keys, members and settings"),
                        ],
                        default="editor",
                        help_text="What requests with the key may do.",
                        max_length=10,
                    ),
                ),
                (
                    "prefix",
                    models.CharField(help_text="First characters of the key, for telling keys apart.", max_length=16),
                ),
                (
                    "digest",
                    models.CharField(help_text="SHA-256 of the key, which is not stored.", max_length=64, unique=True),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_used_at", models.DateTimeField(blank=True, help_text="Empty: never used.", null=True)),
                ("revoked_at", models.DateTimeField(blank=True, help_text="Empty while the key is valid.", null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: created by a command of the server, or the user was deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="api_keys", to="sessions_app.project"
                    ),
                ),
            ],
            options={
                "verbose_name": "API key",
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="QueuedTurn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("added_by_name", models.CharField(help_text="Who put it into the queue.", max_length=150)),
                ("added_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="sessions_app.project",
                    ),
                ),
                (
                    "turn",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="queued",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["project", "id"], name="queued_turn_of_project")],
            },
        ),
        migrations.CreateModel(
            name="Retention",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "days",
                    models.JSONField(
                        default=dict,
                        help_text="Days to keep by kind, 0 for ever; what is missing has the server's setting.",
                    ),
                ),
                ("is_stopped", models.BooleanField(default=False, help_text="Nothing is removed while set.")),
                (
                    "kind",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("trials", "Experiments with their trials"),
                            ("imported-traces", "Traces of other applications"),
                            ("traces", "Traces of turns"),
                            ("model-exchanges", "Requests to models and their answers"),
                            ("payloads", "Inputs and outputs of steps"),
                            ("messages", "Conversations"),
                            ("audit", "Audit log"),
                        ],
                        default="",
                        help_text="What the current run is removing.",
                        max_length=16,
                    ),
                ),
                ("removed", models.JSONField(default=dict, help_text="Rows removed by the newest run, by kind.")),
                (
                    "began_at",
                    models.DateTimeField(blank=True, help_text="Empty: the next sweep starts a run.", null=True),
                ),
                ("finished_at", models.DateTimeField(blank=True, help_text="Empty while a run goes on.", null=True)),
                (
                    "updated_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="When the rule or its last run changed."
                    ),
                ),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="retention", to="sessions_app.project"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "retention",
            },
        ),
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "filter_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and requests.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("text", models.CharField(help_text="Filter in the query language.", max_length=500)),
                ("created_by_name", models.CharField(max_length=150)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_filters",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [models.UniqueConstraint(fields=("project", "name"), name="saved_filter_name_unique")],
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "alert_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and requests.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                ("limit_percent", models.FloatField(help_text="Share of turns above which it notifies.")),
                ("window_minutes", models.PositiveIntegerField(help_text="Turns of the last minutes are counted.")),
                (
                    "least_turns",
                    models.PositiveIntegerField(help_text="With fewer turns in the window nothing is decided."),
                ),
                (
                    "channel",
                    models.CharField(
                        choices=[("hook", "Web hook"), ("mail", "Mail")],
                        help_text="How the notification is sent.",
                        max_length=4,
                    ),
                ),
                ("target", models.CharField(help_text="Address of the web hook or mailbox.", max_length=500)),
                ("created_by_name", models.CharField(max_length=150)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("is_over", models.BooleanField(default=False, editable=False, help_text="State at the last check.")),
                (
                    "rate_percent",
                    models.FloatField(
                        blank=True,
                        editable=False,
                        help_text="Rate at the last check; empty with too few turns.",
                        null=True,
                    ),
                ),
                (
                    "checked_at",
                    models.DateTimeField(blank=True, editable=False, help_text="Empty: not checked yet.", null=True),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="alerts", to="sessions_app.project"
                    ),
                ),
                (
                    "saved_filter",
                    models.ForeignKey(
                        help_text="The filter whose share of turns is watched.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alerts",
                        to="sessions_app.savedfilter",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "session_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and requests: the server's own, or one that a client chose.",
                        max_length=128,
                    ),
                ),
                ("is_client_named", models.BooleanField(default=False, help_text="Whether a client chose the id.")),
                (
                    "title",
                    models.CharField(
                        blank=True,
                        help_text="Chosen by a member or client; empty: the first message is shown.",
                        max_length=200,
                        null=True,
                    ),
                ),
                (
                    "first_message",
                    models.CharField(
                        blank=True, default="", help_text="Beginning of the first message.", max_length=60
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "started_with",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The API key whose request started it; empty: a member or the server did.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="sessions_app.apikey",
                    ),
                ),
                (
                    "last_activity_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="When it last had a turn or a change."
                    ),
                ),
                (
                    "expires_at",
                    models.DateTimeField(
                        blank=True, help_text="When it expires if nothing happens until then; empty: never.", null=True
                    ),
                ),
                ("expired_at", models.DateTimeField(blank=True, help_text="When it was found expired.", null=True)),
                (
                    "deleted_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Set when deleted; the session can be restored for some minutes.",
                        null=True,
                    ),
                ),
                (
                    "imported_at",
                    models.DateTimeField(
                        blank=True, help_text="Set when it came in a bundle: it is read-only.", null=True
                    ),
                ),
                (
                    "preferred_planner_plugin",
                    models.CharField(
                        default="planner-default",
                        help_text="Tried first unless a request names another one.",
                        max_length=100,
                    ),
                ),
                (
                    "preferred_seed_detector_plugin",
                    models.CharField(
                        blank=True, help_text="Tried first; empty: the planner chooses.", max_length=100, null=True
                    ),
                ),
                (
                    "preferred_kb_plugin",
                    models.CharField(
                        blank=True, help_text="Tried first; empty: the planner chooses.", max_length=100, null=True
                    ),
                ),
                (
                    "preferred_goal_solver_plugin",
                    models.CharField(
                        blank=True, help_text="Tried first; empty: the planner chooses.", max_length=100, null=True
                    ),
                ),
                ("preferred_deliberation_level", models.PositiveSmallIntegerField(default=0, help_text="0 to 3.")),
                (
                    "preferred_model",
                    models.CharField(blank=True, help_text="Empty: the model of the role.", max_length=200, null=True),
                ),
                (
                    "model_config",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="The project's table of model roles when the session was created.",
                    ),
                ),
                (
                    "snapshot_version",
                    models.PositiveIntegerField(
                        default=1, help_text="Number of the skill snapshot; each reload adds 1."
                    ),
                ),
                (
                    "active_agent",
                    models.CharField(default="default", help_text="Id of one of the session's agents.", max_length=64),
                ),
                (
                    "active_persona",
                    models.CharField(
                        default="default", help_text="Id of one of the session's personas.", max_length=64
                    ),
                ),
                (
                    "active_style",
                    models.CharField(
                        blank=True,
                        help_text="Empty: the style follows from the message and the persona.",
                        max_length=8,
                        null=True,
                    ),
                ),
                (
                    "grounding",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("open", "Open: the model may answer without evidence, and the answer says so"),
                            ("strict", "Strict: evidence or no answer"),
                        ],
                        default="",
                        help_text="Whether a model may answer without evidence; empty: the project's setting.",
                        max_length=6,
                    ),
                ),
                (
                    "system_prompt",
                    models.TextField(
                        blank=True, help_text="Sent with every turn unless the request has its own.", null=True
                    ),
                ),
                ("metadata", models.JSONField(blank=True, default=dict, help_text="Written by clients only.")),
                (
                    "flags",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Policies chosen for this session; what is missing comes from the project.",
                    ),
                ),
                (
                    "summary",
                    models.JSONField(blank=True, help_text="Summary of the messages that left the window.", null=True),
                ),
                (
                    "planner_statistics",
                    models.JSONField(
                        blank=True,
                        help_text="Plugin utilities frozen at creation; empty: those of the project are used and updated.",
                        null=True,
                    ),
                ),
                (
                    "turn_limits",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Below the server's for each turn: limits by name, and max_tokens.",
                    ),
                ),
                (
                    "forked_at",
                    models.PositiveIntegerField(
                        blank=True, help_text="Sequence number of the last message taken over.", null=True
                    ),
                ),
                (
                    "fork_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("edited", "A message was edited or answered again"),
                            ("expired", "The other had expired"),
                        ],
                        default="",
                        help_text="How the session was made from another one.",
                        max_length=12,
                    ),
                ),
                (
                    "message_sequence",
                    models.PositiveIntegerField(default=0, help_text="Number of the newest message; never goes back."),
                ),
                (
                    "turn_sequence",
                    models.PositiveIntegerField(default=0, help_text="Number of the newest turn; never goes back."),
                ),
                (
                    "event_sequence",
                    models.PositiveIntegerField(default=0, help_text="Number of the newest event; never goes back."),
                ),
                (
                    "compacted_sequence",
                    models.PositiveIntegerField(default=0, help_text="Events up to this number may have been deleted."),
                ),
                ("unit_count", models.PositiveIntegerField(default=0, help_text="Committed units.")),
                (
                    "remembered_count",
                    models.PositiveIntegerField(default=0, help_text="Texts kept by the memory commands."),
                ),
                (
                    "removed_message_count",
                    models.PositiveIntegerField(default=0, help_text="Messages deleted from the conversation."),
                ),
                (
                    "failed_turn_count",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Turns that failed or were interrupted; those that somebody stopped are not counted.",
                    ),
                ),
                (
                    "agents",
                    models.ForeignKey(
                        help_text="Agent files as they were when the session was created.",
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="+",
                        to="sessions_app.frozencontent",
                    ),
                ),
                (
                    "draft",
                    models.ForeignKey(
                        help_text="Topmost layer of unsaved changes.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "forked_from",
                    models.ForeignKey(
                        blank=True,
                        help_text="The session whose messages it started with.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="forks",
                        to="sessions_app.session",
                    ),
                ),
                (
                    "journal",
                    models.ForeignKey(
                        help_text="Layer of what turns and loaded contexts committed.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "mounted_kb",
                    models.ForeignKey(
                        help_text="The base that its questions are answered from.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="mounted_in",
                        to="sessions_app.knowledgebase",
                    ),
                ),
                (
                    "mounted_layer",
                    models.ForeignKey(
                        help_text="Head of the base when it was mounted.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "personas",
                    models.ForeignKey(
                        help_text="Persona files as they were when the session was created.",
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="+",
                        to="sessions_app.frozencontent",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to="sessions_app.project",
                    ),
                ),
                (
                    "skills",
                    models.ForeignKey(
                        help_text="Skill files as they were when the session was created or last reloaded.",
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="+",
                        to="sessions_app.frozencontent",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "-last_activity_at", "-id"], name="session_by_activity"),
                    models.Index(fields=["expires_at"], name="session_by_expiry"),
                    models.Index(fields=["session_id"], name="session_by_session_id"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "session_id"), name="session_id_unique_in_project"),
                    models.CheckConstraint(
                        condition=models.Q(("preferred_deliberation_level__lte", 3)), name="session_level_0_to_3"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RememberedText",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "record_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and commands.",
                        max_length=40,
                        unique=True,
                    ),
                ),
                ("content", models.TextField(help_text="What is remembered, as it is told to a model.")),
                (
                    "domain",
                    models.CharField(
                        choices=[
                            ("user_profile", "User Profile"),
                            ("persona_core", "Persona Core"),
                            ("working_rules", "Working Rules"),
                            ("task_memory", "Task"),
                            ("evidence", "Evidence"),
                        ],
                        default="user_profile",
                        help_text="What the text is about.",
                        max_length=16,
                    ),
                ),
                (
                    "namespace",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The task of task memory, the citation of evidence; empty for others.",
                        max_length=300,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("active", "Active"),
                            ("needs_verification", "Needs Verification"),
                            ("verified", "Verified"),
                            ("conflicted", "Conflicted"),
                            ("archived", "Archived"),
                        ],
                        default="active",
                        max_length=20,
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[("command", "Command"), ("inference", "Inference"), ("import", "Import")],
                        default="command",
                        help_text="Who asked for it to be kept.",
                        max_length=9,
                    ),
                ),
                ("confidence", models.FloatField(default=1.0, help_text="0 to 1.")),
                (
                    "conflict_group",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Texts of one group contradict each other; empty: none.",
                        max_length=80,
                    ),
                ),
                (
                    "verified_at",
                    models.DateTimeField(blank=True, help_text="Empty: nobody has verified it.", null=True),
                ),
                (
                    "expires_at",
                    models.DateTimeField(blank=True, help_text="Empty: kept until it is deleted.", null=True),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="remembered_texts",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["session_id", "-id"],
            },
        ),
        migrations.CreateModel(
            name="QuarantinedChunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source_id", models.CharField(help_text="The source that the part comes from.", max_length=128)),
                ("source_name", models.CharField(help_text="Its name then.", max_length=300)),
                ("chunk_index", models.PositiveIntegerField(help_text="Place of the chunk in its source, from 0.")),
                ("text", models.TextField(help_text="Text of the chunk.")),
                (
                    "control_text",
                    models.TextField(blank=True, help_text="What the detector wrote and admission refused."),
                ),
                ("message", models.TextField(help_text="Why the chunk was refused.")),
                (
                    "diagnostics",
                    models.JSONField(
                        blank=True, default=list, help_text="Each error in the control text, with its place."
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "origin",
                    models.ForeignKey(
                        blank=True,
                        help_text="Source of a base; empty for a source of a session.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="quarantined",
                        to="sessions_app.knowledgesource",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        blank=True,
                        help_text="Session that loaded the source; empty for a source of a base.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="quarantined",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("origin__isnull", True), ("session__isnull", False)),
                            models.Q(("origin__isnull", False), ("session__isnull", True)),
                            _connector="OR",
                        ),
                        name="quarantined_chunk_has_one_owner",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "sequence",
                    models.PositiveIntegerField(help_text="Number within the session, counted from 1; never changes."),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("user", "User"), ("system", "System"), ("assistant", "Assistant"), ("tool", "Tool")],
                        max_length=10,
                    ),
                ),
                ("content", models.TextField()),
                (
                    "payload",
                    models.JSONField(
                        blank=True, help_text="Tool, input and output of a tool's message; empty for others.", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "turn",
                    models.ForeignKey(
                        blank=True,
                        help_text="Turn that it belongs to; empty for history that was brought along.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="messages",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["session_id", "sequence"],
                "constraints": [models.UniqueConstraint(fields=("session", "sequence"), name="message_sequence")],
            },
        ),
        migrations.CreateModel(
            name="KBMount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField(help_text="Revision of the base when it was mounted.")),
                ("reason", models.CharField(help_text="What mounted it, such as a save or a fork.", max_length=40)),
                (
                    "mounted_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="The session reads the base from then on."
                    ),
                ),
                (
                    "until",
                    models.DateTimeField(blank=True, help_text="Empty while this is the current mount.", null=True),
                ),
                (
                    "mounted_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: an API key or the server itself, or the user was deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "knowledge_base",
                    models.ForeignKey(
                        help_text="The base that the session reads.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="mounts",
                        to="sessions_app.knowledgebase",
                    ),
                ),
                (
                    "layer",
                    models.ForeignKey(
                        help_text="Head of the base at the time of the mount.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="mounts", to="sessions_app.session"
                    ),
                ),
            ],
            options={
                "verbose_name": "KB mount",
                "ordering": ["session_id", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("until__isnull", True)),
                        fields=("session",),
                        name="mount_one_open_a_session",
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="explainabilityturn",
            name="session",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="turns",
                to="sessions_app.session",
            ),
        ),
        migrations.CreateModel(
            name="Experiment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "created_by_name",
                    models.CharField(help_text="Name of the user or API key; outlives the user.", max_length=150),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "experiment_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and requests.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("trials", "Trials"),
                            ("diagnosis", "Diagnosis"),
                            ("bisect", "Bisect"),
                            ("suite", "Suite"),
                        ],
                        help_text="Who chooses the trials.",
                        max_length=9,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                            ("interrupted", "Interrupted"),
                        ],
                        default="running",
                        max_length=11,
                    ),
                ),
                (
                    "message",
                    models.TextField(
                        blank=True,
                        default="",
                        help_text="Message of trials without a recorded turn; the suite's name for a run of one.",
                    ),
                ),
                (
                    "question",
                    models.JSONField(blank=True, default=dict, help_text="Expectation and bounds of a search."),
                ),
                (
                    "result",
                    models.JSONField(
                        blank=True, help_text="Result of a search, or how many tests came out how.", null=True
                    ),
                ),
                ("error", models.JSONField(blank=True, help_text="Why it failed; empty otherwise.", null=True)),
                ("tried_count", models.PositiveIntegerField(default=0, help_text="Trials run so far.")),
                (
                    "asks_models",
                    models.BooleanField(default=False, help_text="Whether trials may send new requests to a model."),
                ),
                ("finished_at", models.DateTimeField(blank=True, help_text="Empty while it runs.", null=True)),
                (
                    "lease_until",
                    models.DateTimeField(
                        blank=True, help_text="A running experiment counts as abandoned after this time.", null=True
                    ),
                ),
                (
                    "cancel_requested_at",
                    models.DateTimeField(
                        blank=True, help_text="When somebody asked to stop it; empty: nobody did.", null=True
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="Empty: an API key or a command of the server, or the user was deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        blank=True,
                        help_text="Recorded turn that is run again; empty for a message of its own, or a suite.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="experiments",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="experiments",
                        to="sessions_app.project",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="experiments",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["project", "-id"], name="experiment_of_project"),
                    models.Index(fields=["created_at"], name="experiment_by_time"),
                    models.Index(
                        condition=models.Q(("status", "running")), fields=["lease_until"], name="experiment_lease"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ConversationPoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "conversation_hash",
                    models.CharField(help_text="Hash of all messages up to this one.", max_length=64),
                ),
                ("sequence", models.PositiveIntegerField(help_text="Number of the last message.")),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conversation_points",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["session_id", "sequence"],
                "indexes": [models.Index(fields=["conversation_hash"], name="conversation_point_by_hash")],
            },
        ),
        migrations.CreateModel(
            name="ContextUnit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit_id", models.CharField(help_text="Id that answers cite.", max_length=400)),
                (
                    "ku_type",
                    models.CharField(
                        default="atomic", help_text="How much it covers: atomic, composite or aggregate.", max_length=10
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        help_text="What kind of statement it is, such as Definition or Procedure.", max_length=12
                    ),
                ),
                ("topic", models.TextField(help_text="What the unit is about.")),
                ("title", models.TextField(blank=True, help_text="Empty where none was given.", null=True)),
                ("claim", models.TextField(blank=True, help_text="What it states; empty for a procedure.", null=True)),
                (
                    "procedure",
                    models.TextField(blank=True, help_text="How something is done; empty for a claim.", null=True),
                ),
                (
                    "condition",
                    models.TextField(blank=True, help_text="When the claim holds; empty: always.", null=True),
                ),
                (
                    "text_body",
                    models.TextField(blank=True, help_text="Complete text; empty: its claim or procedure.", null=True),
                ),
                (
                    "subject",
                    models.TextField(
                        blank=True, help_text="Subject of the fact, where the unit states one.", null=True
                    ),
                ),
                (
                    "relation",
                    models.CharField(blank=True, help_text="Relation of subject and object.", max_length=20, null=True),
                ),
                ("object", models.TextField(blank=True, help_text="Object of the fact.", null=True)),
                (
                    "confidence",
                    models.FloatField(blank=True, help_text="0 to 1; empty where none was given.", null=True),
                ),
                (
                    "source_id",
                    models.CharField(help_text="Id of its source; the turn for what a message stated.", max_length=200),
                ),
                (
                    "chunk_id",
                    models.CharField(help_text="Id of the chunk that the unit was made from.", max_length=300),
                ),
                ("hash", models.CharField(help_text="Units with the same hash say the same.", max_length=64)),
                (
                    "utility_acts",
                    models.JSONField(
                        blank=True, default=list, help_text="Acts of intents that the unit is useful for."
                    ),
                ),
                (
                    "phase_scopes",
                    models.JSONField(
                        blank=True, default=list, help_text="Phases that the unit is for; `kb-plugin` means evidence."
                    ),
                ),
                (
                    "provenance",
                    models.JSONField(
                        blank=True, default=dict, help_text="Where its text is, and other fields that no query uses."
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("committed", "Committed")],
                        default="pending",
                        help_text="Pending while its turn runs.",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "committed_at",
                    models.DateTimeField(blank=True, help_text="Empty while the unit is pending.", null=True),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        blank=True,
                        help_text="Turn that staged it; empty for a loaded context.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="context_units",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="context_units",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["session_id", "id"],
                "indexes": [models.Index(fields=["session", "state", "id"], name="context_unit_by_state")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "committed")),
                        fields=("session", "hash"),
                        name="context_unit_hash_unique",
                    ),
                    models.UniqueConstraint(fields=("session", "unit_id"), name="context_unit_id_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SessionEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sequence", models.PositiveIntegerField(help_text="Number within the session, from 1 without gaps.")),
                ("kind", models.CharField(help_text="Name of the event, such as turn.started.", max_length=40)),
                ("payload", models.JSONField(default=dict, help_text="Facts of the event: ids and small values.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["session_id", "sequence"],
                "constraints": [models.UniqueConstraint(fields=("session", "sequence"), name="session_event_sequence")],
            },
        ),
        migrations.CreateModel(
            name="SessionMemory",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("owner", models.CharField(help_text="Session id.", max_length=128)),
                ("record", models.JSONField(default=dict, help_text="Resolved terms, active documents and sections.")),
                (
                    "turn_count",
                    models.PositiveIntegerField(default=0, help_text="Turns that the memory was made from."),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "last_accessed_at",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="When a turn last used it."),
                ),
                ("expires_at", models.DateTimeField(help_text="After this the memory is ignored and swept.")),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="session_memories",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "session memories",
                "indexes": [models.Index(fields=["expires_at"], name="session_memory_by_expiry")],
                "constraints": [models.UniqueConstraint(fields=("project", "owner"), name="session_memory_owner")],
            },
        ),
        migrations.CreateModel(
            name="SourceArtifact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("plugin_id", models.CharField(help_text="Plugin that derived it.", max_length=100)),
                ("name", models.CharField(help_text="Chosen by the plugin.", max_length=200)),
                ("content", models.BinaryField(help_text="Derived by the plugin, which alone can read it.")),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artifacts",
                        to="sessions_app.knowledgesource",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("source", "plugin_id", "name"), name="source_artifact_one_a_name")
                ],
            },
        ),
        migrations.CreateModel(
            name="StorageSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(help_text="Day in UTC.")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("conversations", "Conversations"),
                            ("knowledge", "Knowledge"),
                            ("full-text", "Full-text indexes"),
                            ("vectors", "Vectors and what else plugins derive"),
                            ("traces", "Traces"),
                            ("payloads", "Inputs and outputs of steps"),
                            ("model-exchanges", "Requests to models and their answers"),
                            ("events", "Events of open pages"),
                            ("audit", "Audit log"),
                            ("other", "Everything else"),
                            ("free", "Free pages, used again before the file grows"),
                        ],
                        help_text="What the space is used for.",
                        max_length=16,
                    ),
                ),
                ("byte_count", models.PositiveBigIntegerField(help_text="Bytes of the rows with their indexes.")),
                ("is_estimate", models.BooleanField(default=False, help_text="Set where the database cannot tell.")),
            ],
            options={
                "ordering": ["-day", "kind"],
                "constraints": [models.UniqueConstraint(fields=("day", "kind"), name="storage_sample_once")],
            },
        ),
        migrations.CreateModel(
            name="Suite",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "suite_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and requests.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                (
                    "created_by_name",
                    models.CharField(help_text="Who made it, also after that user is gone.", max_length=150),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="suites",
                        to="sessions_app.project",
                    ),
                ),
                (
                    "session",
                    models.OneToOneField(
                        blank=True,
                        help_text="Hidden session in which tests of a base ask; empty until a run needs it.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="suite",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [models.UniqueConstraint(fields=("project", "name"), name="suite_name_unique")],
            },
        ),
        migrations.CreateModel(
            name="SuiteRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "target",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="What the run was made against, as `Target.as_record` returns it.",
                    ),
                ),
                (
                    "experiment",
                    models.OneToOneField(
                        help_text="Its trials, one for each test.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="suite_run",
                        to="sessions_app.experiment",
                    ),
                ),
                (
                    "suite",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="sessions_app.suite"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="TestCase",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "test_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in addresses and requests.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                ("position", models.PositiveIntegerField(help_text="Order within the suite.")),
                ("name", models.CharField(max_length=200)),
                ("tags", models.JSONField(blank=True, default=list, help_text="Words by which a run chooses tests.")),
                ("message", models.TextField(help_text="What the test asks.")),
                ("revision", models.PositiveIntegerField(blank=True, help_text="Empty: the newest.", null=True)),
                (
                    "choices",
                    models.JSONField(
                        blank=True, default=dict, help_text="What is changed of the turn or base, as by a trial."
                    ),
                ),
                ("expected", models.JSONField(blank=True, default=dict, help_text="Expectations.")),
                (
                    "created_by_name",
                    models.CharField(help_text="Who made it, also after that user is gone.", max_length=150),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "base",
                    models.ForeignKey(
                        blank=True,
                        help_text="Base to ask where no turn is run again.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="sessions_app.knowledgebase",
                    ),
                ),
                (
                    "suite",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tests",
                        to="sessions_app.suite",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        blank=True,
                        help_text="Recorded turn that is run again; empty: the message is asked in a new session.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
            ],
            options={
                "ordering": ["suite_id", "position", "id"],
                "constraints": [models.UniqueConstraint(fields=("suite", "name"), name="test_name_unique")],
            },
        ),
        migrations.CreateModel(
            name="Trial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField(help_text="Number within the experiment.")),
                (
                    "changes",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="What differs from the recorded turn, as `Changes.as_record` returns it.",
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("needs-model", "Needs Model"),
                            ("refused", "Refused"),
                            ("cancelled", "Cancelled"),
                            ("interrupted", "Interrupted"),
                        ],
                        default="waiting",
                        max_length=11,
                    ),
                ),
                (
                    "answer",
                    models.TextField(
                        blank=True, default="", help_text="Empty until the trial has ended, and where it gave none."
                    ),
                ),
                (
                    "answer_status",
                    models.CharField(
                        blank=True, default="", help_text="Empty until the trial has ended.", max_length=12
                    ),
                ),
                (
                    "basis",
                    models.CharField(blank=True, default="", help_text="What the answer rests on.", max_length=8),
                ),
                (
                    "cited_unit_ids",
                    models.JSONField(blank=True, default=list, help_text="Ids of the units that the answer cites."),
                ),
                ("plugins", models.JSONField(blank=True, default=dict, help_text="Plugins that answered, by stage.")),
                (
                    "token_count",
                    models.PositiveIntegerField(
                        blank=True, help_text="Input and output tokens; empty without a model call.", null=True
                    ),
                ),
                (
                    "cost",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="In the currency of the model's price; empty without a price.",
                        max_digits=12,
                        null=True,
                    ),
                ),
                (
                    "duration_ms",
                    models.PositiveIntegerField(
                        blank=True, help_text="Milliseconds; empty until the trial has ended.", null=True
                    ),
                ),
                (
                    "has_effect",
                    models.BooleanField(
                        default=True, help_text="Whether the machine was given anything else than in the recorded turn."
                    ),
                ),
                ("error", models.JSONField(blank=True, help_text="Why it failed; empty otherwise.", null=True)),
                (
                    "missing_request",
                    models.JSONField(
                        blank=True,
                        help_text="Request that a model would have been sent, where none may be asked.",
                        null=True,
                    ),
                ),
                ("findings", models.JSONField(blank=True, default=list, help_text="Causes that the trial proves.")),
                (
                    "experiment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="trials",
                        to="sessions_app.experiment",
                    ),
                ),
                (
                    "trace",
                    models.OneToOneField(
                        blank=True,
                        help_text="Turn with the trial's events and payloads; empty for trials of a search that show nothing.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="trial",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        blank=True,
                        help_text="The turn whose view it ran over.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
            ],
            options={
                "ordering": ["experiment_id", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("experiment", "position"), name="trial_position_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="TestResult",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField(help_text="Order within the run.")),
                ("name", models.CharField(help_text="Name of the test when it ran.", max_length=200)),
                (
                    "breaks",
                    models.BooleanField(
                        default=False,
                        help_text="Fails against this draft or revision, passes on the present state of its base.",
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("passed", "Passed"),
                            ("failed", "Failed"),
                            ("error", "Error"),
                        ],
                        default="waiting",
                        help_text="Whether the answer was as expected.",
                        max_length=7,
                    ),
                ),
                (
                    "failures",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="A sentence for each expectation that was not met, with what was there instead.",
                    ),
                ),
                (
                    "verdict",
                    models.TextField(blank=True, default="", help_text="Reason of the model that judged the answer."),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="results",
                        to="sessions_app.suiterun",
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty once the test is deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="results",
                        to="sessions_app.testcase",
                    ),
                ),
                (
                    "trial",
                    models.OneToOneField(
                        help_text="How the test's question was answered.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="result",
                        to="sessions_app.trial",
                    ),
                ),
            ],
            options={
                "ordering": ["run_id", "position"],
                "constraints": [models.UniqueConstraint(fields=("run", "position"), name="result_position_unique")],
            },
        ),
        migrations.CreateModel(
            name="TurnConditions",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(help_text="Hash of the content.", max_length=64)),
                (
                    "content",
                    models.BinaryField(default=dict, help_text="Settings, choices and utilities, compressed JSON."),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="turn_conditions",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "turn conditions",
                "constraints": [models.UniqueConstraint(fields=("project", "digest"), name="turn_conditions_digest")],
            },
        ),
        migrations.AddField(
            model_name="explainabilityturn",
            name="conditions",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="Settings it shares with other turns; needed to run it again.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="sessions_app.turnconditions",
            ),
        ),
        migrations.CreateModel(
            name="TurnCounts",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hour", models.DateTimeField(help_text="Beginning of the hour, UTC.")),
                ("kb_id", models.CharField(help_text="Base of the session when the hour was counted.", max_length=64)),
                (
                    "model",
                    models.CharField(
                        blank=True, help_text="Requested model; empty: none was requested.", max_length=200
                    ),
                ),
                ("agent", models.CharField(help_text="Agent of the session when the hour was counted.", max_length=64)),
                ("asked_by", models.CharField(blank=True, default="", help_text="User or API key.", max_length=150)),
                ("turn_count", models.PositiveIntegerField(help_text="Turns that ended in the hour.")),
                (
                    "unanswered_count",
                    models.PositiveIntegerField(
                        help_text="Turns that ended with no answer, or only with the closest passage."
                    ),
                ),
                ("failed_count", models.PositiveIntegerField(help_text="Those of them that failed.")),
                ("up_count", models.PositiveIntegerField(help_text="Turns rated up.")),
                ("down_count", models.PositiveIntegerField(help_text="Turns rated down.")),
                ("imported_count", models.PositiveIntegerField(default=0, help_text="Turns received as a trace.")),
                ("durations", models.JSONField(help_text="Number of turns by `duration_key`.")),
                ("tokens", models.JSONField(help_text="Input and output tokens by model that answered.")),
                (
                    "is_outdated",
                    models.BooleanField(
                        default=False, help_text="Set when a counted turn has changed; the hour is counted again."
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="sessions_app.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "turn counts",
                "ordering": ["project_id", "hour"],
                "indexes": [
                    models.Index(fields=["hour"], name="turn_counts_by_hour"),
                    models.Index(
                        condition=models.Q(("is_outdated", True)), fields=["hour"], name="turn_counts_outdated"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "hour", "kb_id", "model", "agent", "asked_by"), name="turn_counts_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TurnEvents",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("first_sequence", models.PositiveIntegerField(help_text="Number of the first event of the batch.")),
                (
                    "events",
                    models.BinaryField(help_text="Events in order, compressed JSON."),
                ),
                (
                    "payload_index",
                    models.BinaryField(
                        default=list, help_text="Place and length of each payload in payloads, compressed JSON."
                    ),
                ),
                ("payloads", models.BinaryField(default=bytes, help_text="Empty once retention has removed them.")),
                (
                    "judged",
                    models.BinaryField(
                        blank=True,
                        help_text="Ledger steps of retrieval and solving, compressed JSON; only in the last batch.",
                        null=True,
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="event_batches",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "turn events",
                "ordering": ["turn_id", "first_sequence"],
                "constraints": [
                    models.UniqueConstraint(fields=("turn", "first_sequence"), name="turn_events_sequence")
                ],
            },
        ),
        migrations.CreateModel(
            name="TurnRating",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "value",
                    models.CharField(
                        choices=[("up", "Up"), ("down", "Down")], help_text="Taken from the newest score.", max_length=4
                    ),
                ),
                ("note", models.TextField(blank=True, default="")),
                ("rated_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "rated_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: an API key, or the user was deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "turn",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rating",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
            ],
            options={
                "ordering": ["turn_id"],
                "indexes": [models.Index(fields=["value", "turn"], name="turn_rating_by_value")],
            },
        ),
        migrations.CreateModel(
            name="TurnScore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "person",
                    models.CharField(
                        blank=True, help_text="Name of the user or API key; empty when unknown.", max_length=150
                    ),
                ),
                (
                    "value",
                    models.CharField(
                        choices=[("up", "Up"), ("down", "Down"), ("skipped", "Skipped")],
                        help_text="skipped: looked at, without a rating.",
                        max_length=7,
                    ),
                ),
                ("note", models.TextField(blank=True, default="")),
                ("scored_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "turn",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scores",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: an API key, or the user was deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["turn_id", "scored_at", "id"],
                "constraints": [models.UniqueConstraint(fields=("turn", "person"), name="turn_score_one_a_person")],
            },
        ),
        migrations.CreateModel(
            name="UnitArtifact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("plugin_id", models.CharField(help_text="Plugin that derived it.", max_length=100)),
                ("version", models.CharField(help_text="Version of the plugin's format.", max_length=100)),
                ("content", models.BinaryField(help_text="Derived by the plugin, which alone can read it.")),
                (
                    "unit",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artifacts",
                        to="sessions_app.layerunit",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("unit", "plugin_id"), name="artifact_one_a_plugin_and_unit")
                ],
            },
        ),
        migrations.CreateModel(
            name="UnitEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "unit_id",
                    models.CharField(help_text="The unit, by the id that traces name it with.", max_length=400),
                ),
                (
                    "step",
                    models.CharField(
                        choices=[
                            ("staged", "Staged"),
                            ("committed", "Committed"),
                            ("deduplicated", "Deduplicated"),
                            ("discarded", "Discarded"),
                            ("removed", "Removed"),
                            ("offered", "Offered"),
                            ("selected", "Selected"),
                            ("pruned", "Pruned"),
                            ("cited", "Cited"),
                        ],
                        help_text="What happened to the unit.",
                        max_length=12,
                    ),
                ),
                (
                    "store",
                    models.CharField(default="current-turn", help_text="Where the unit is stored.", max_length=12),
                ),
                (
                    "execution_id",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Plugin execution that did it; empty for the server itself.",
                        max_length=100,
                    ),
                ),
                (
                    "rank",
                    models.PositiveIntegerField(
                        blank=True, help_text="Place among the units of its search, the best first.", null=True
                    ),
                ),
                ("score", models.FloatField(blank=True, help_text="Score in its search.", null=True)),
                (
                    "reason",
                    models.CharField(blank=True, default="", help_text="Why the step was taken.", max_length=300),
                ),
                ("text", models.TextField(blank=True, default="", help_text="Text of the unit at this step.")),
                (
                    "corrects",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Id of the unit that this one corrects; empty if it is none.",
                        max_length=400,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="unit_events",
                        to="sessions_app.session",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="Empty for what happened outside of a turn.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="unit_events",
                        to="sessions_app.explainabilityturn",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["session", "unit_id"], name="unit_event_by_unit"),
                    models.Index(fields=["turn", "step"], name="unit_event_by_turn"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertCrossing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "crossing_id",
                    models.CharField(
                        editable=False,
                        help_text="Id in requests; the message carries it too.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                (
                    "crossed_at",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="When the limit was passed."),
                ),
                (
                    "ended_at",
                    models.DateTimeField(blank=True, help_text="When the rate was within the limit again.", null=True),
                ),
                ("matched_count", models.PositiveIntegerField(help_text="Turns that fit the filter.")),
                ("turn_count", models.PositiveIntegerField(help_text="Turns in the window.")),
                (
                    "status",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("sent", "Sent"), ("failed", "Failed")],
                        default="waiting",
                        help_text="Whether the message has been sent.",
                        max_length=7,
                    ),
                ),
                ("tries", models.PositiveSmallIntegerField(default=0, help_text="Notifications attempted.")),
                (
                    "next_try_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="A waiting notification is sent from this time on."
                    ),
                ),
                ("problem", models.CharField(blank=True, help_text="Why the last attempt failed.", max_length=300)),
                (
                    "alert",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="crossings",
                        to="sessions_app.alert",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["alert", "-id"], name="alert_crossing_newest"),
                    models.Index(
                        condition=models.Q(("status", "waiting")), fields=["next_try_at"], name="alert_crossing_waiting"
                    ),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="knowledgebase",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_default", True)), fields=("project",), name="knowledge_base_one_default"
            ),
        ),
        migrations.AddConstraint(
            model_name="explainabilityturn",
            constraint=models.UniqueConstraint(
                fields=("session", "turn_index", "trial_number"), name="turn_index_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="explainabilityturn",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "running")), fields=("session",), name="turn_one_running_a_session"
            ),
        ),
    ]
    operations = [CreateTables(operations), migrations.RunPython(create_unit_words, drop_unit_words)]
