"""The plugins page: what is installed, by family."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from mrpvm import registry
from sessions_app.turns.language_model import is_configured
from sessions_app.web.access import Member, member_view
from sessions_app.web.pages import page
from sessions_app.web.words import FAMILIES


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the descriptors in the order of one turn."""
    families = [
        {"title": title, "words": words, "plugins": registry.installed.descriptors(family)}
        for family, (title, words) in FAMILIES.items()
    ]
    context = {"families": families, "has_model": is_configured(), "wrappers": registry.installed.wrappers}
    return page(request, "plugins/index.html", member, context, section="plugins")
