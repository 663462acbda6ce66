"""The index for free-text and phrase search of pages, see `sessions_app.layers.words`."""

from django.db import migrations

_SQLITE = (
    "CREATE VIRTUAL TABLE sessions_app_unitwords USING fts5(layer, words, tokenize = 'unicode61 remove_diacritics 0')",
    "CREATE TRIGGER sessions_app_unitwords_gone AFTER DELETE ON sessions_app_layerunit "
    "BEGIN DELETE FROM sessions_app_unitwords WHERE rowid = old.id; END",
)
_POSTGRESQL = (
    "CREATE TABLE sessions_app_unitwords (unit_id bigint PRIMARY KEY, words tsvector NOT NULL)",
    "CREATE INDEX sessions_app_unitwords_words ON sessions_app_unitwords USING gin (words)",
    "CREATE FUNCTION sessions_app_unitwords_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "IF TG_OP = 'TRUNCATE' THEN TRUNCATE sessions_app_unitwords; "
    "ELSE DELETE FROM sessions_app_unitwords WHERE unit_id = OLD.id; END IF; RETURN NULL; END $$",
    "CREATE TRIGGER sessions_app_unitwords_gone AFTER DELETE ON sessions_app_layerunit "
    "FOR EACH ROW EXECUTE FUNCTION sessions_app_unitwords_gone()",
    "CREATE TRIGGER sessions_app_unitwords_emptied AFTER TRUNCATE ON sessions_app_layerunit "
    "FOR EACH STATEMENT EXECUTE FUNCTION sessions_app_unitwords_gone()",
)
_UNDO = {
    "sqlite": ("DROP TRIGGER sessions_app_unitwords_gone", "DROP TABLE sessions_app_unitwords"),
    "postgresql": (
        "DROP TRIGGER sessions_app_unitwords_gone ON sessions_app_layerunit",
        "DROP TRIGGER sessions_app_unitwords_emptied ON sessions_app_layerunit",
        "DROP FUNCTION sessions_app_unitwords_gone",
        "DROP TABLE sessions_app_unitwords",
    ),
}


def make(apps, schema_editor):
    """Make the table and its triggers, as this database knows them."""
    for statement in _SQLITE if schema_editor.connection.vendor == "sqlite" else _POSTGRESQL:
        schema_editor.execute(statement, None)


def unmake(apps, schema_editor):
    """Remove them."""
    for statement in _UNDO[schema_editor.connection.vendor]:
        schema_editor.execute(statement, None)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0001_initial")]

    operations = [migrations.RunPython(make, unmake)]
