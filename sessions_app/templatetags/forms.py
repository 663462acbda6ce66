"""Attributes that forms share."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from mrpvm.sources.documents.document import ENDINGS, FORMATS

register = template.Library()

_ATTRIBUTES = (
    'method="post" action="{0}" hx-post="{0}" hx-target="#toasts" hx-swap="beforeend" hx-disable="find [type=submit]"'
)


@register.simple_tag
def posts_to(view: str, *arguments: str) -> SafeString:
    """Return the attributes of a form that posts to a view; where scripts run, the answer is shown as a toast."""
    return format_html(_ATTRIBUTES, reverse(view, args=arguments))


@register.simple_tag
def source_formats() -> str:
    """Return which files become sources, in words."""
    return FORMATS


@register.simple_tag
def source_endings() -> str:
    """Return which files become sources, as an `accept` attribute states it."""
    return ", ".join([*ENDINGS, "text/*"])
