"""Sessions from before keep from now on what a session made at this moment would keep [L-10]."""

from django.db import migrations

from mrpvm.conversation.skills import SkillRootError, SkillSnapshot
from mrpvm.llm.roles import ModelConfig


def freeze(apps, schema_editor):
    """Freeze skills, personas, agents and the model configuration of every session that has none."""
    from sessions_app.queries.skill_files import current_agents, current_personas, current_skills

    FrozenContent, Session = apps.get_model("sessions_app", "FrozenContent"), apps.get_model("sessions_app", "Session")
    for project in apps.get_model("sessions_app", "Project").objects.filter(sessions__isnull=False).distinct():
        try:
            skills = current_skills(project)
        except SkillRootError:
            skills = SkillSnapshot()
        keys = {}
        contents = {"skills": skills, "personas": current_personas(project), "agents": current_agents(project)}
        for kind, content in contents.items():
            keys[f"{kind}_id"] = f"{project.pk}-{content.content_hash}"
            FrozenContent.objects.get_or_create(
                pk=keys[f"{kind}_id"], defaults={"project": project, "kind": kind, "content": content.as_record()}
            )
        Session.objects.filter(project=project).update(**keys)
        roles = apps.get_model("sessions_app", "ModelRoles").objects.filter(project=project).first()
        config = ModelConfig().as_record() if roles is None else roles.config
        Session.objects.filter(project=project, model_config={}).update(model_config=config)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0004_frozen_sessions")]
    operations = [migrations.RunPython(freeze, migrations.RunPython.noop, elidable=True)]
