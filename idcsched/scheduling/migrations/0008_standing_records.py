import django.db.models.deletion
from django.db import migrations, models


def note_the_codes(apps, schema_editor):
    """A record names its tenant by itself, so that it stands when the tenant is deleted."""
    tenants, decisions = apps.get_model("accounts", "Tenant").objects, apps.get_model("scheduling", "Decision").objects
    code = tenants.filter(pk=models.OuterRef("tenant_id")).values("code")
    decisions.filter(tenant__isnull=False).update(tenant_code=models.Subquery(code))


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_callback_secret"),
        ("scheduling", "0007_documents_as_written"),
    ]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="tenant_code",
            field=models.CharField(
                blank=True,
                help_text="As it was then, also of one that is gone.",
                max_length=63,
                verbose_name="tenant's code",
            ),
        ),
        migrations.AlterField(
            model_name="decision",
            name="tenant",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="accounts.tenant",
                verbose_name="tenant",
            ),
        ),
        migrations.RunPython(note_the_codes, migrations.RunPython.noop),
    ]
