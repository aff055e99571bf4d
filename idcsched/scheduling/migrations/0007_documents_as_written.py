from django.db import migrations

import idcsched.db.fields

DOCUMENTS = ("answer", "sentences")
LZ4_KNOWN = "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"


def keep_as_written(apps, schema_editor):
    """Most of what PostgreSQL does to keep a decision goes into taking its answer to pieces, which nobody asks for."""
    _become(schema_editor, "json")


def keep_in_pieces(apps, schema_editor):
    _become(schema_editor, "jsonb")


def _become(schema_editor, kind):
    """Both in one statement, since the table is written anew; with another type the compression would be the usual."""
    if schema_editor.connection.vendor != "postgresql":
        return
    changes = [f"ALTER COLUMN {name} TYPE {kind} USING {name}::{kind}" for name in DOCUMENTS]
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(LZ4_KNOWN)
        known = cursor.fetchone()
    if known and known[0]:
        changes += [f"ALTER COLUMN {name} SET COMPRESSION lz4" for name in DOCUMENTS]
    schema_editor.execute(f"ALTER TABLE scheduling_decision {', '.join(changes)}")


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0006_quicker_compression")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(keep_as_written, keep_in_pieces)],
            state_operations=[
                migrations.AlterField(
                    model_name="decision",
                    name="answer",
                    field=idcsched.db.fields.WholeDocumentField(verbose_name="answer"),
                ),
                migrations.AlterField(
                    model_name="decision",
                    name="sentences",
                    field=idcsched.db.fields.WholeDocumentField(
                        default=dict,
                        help_text="What each English sentence of the answer was made of.",
                        verbose_name="sentences",
                    ),
                ),
            ],
        ),
    ]
