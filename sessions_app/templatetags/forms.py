"""Attributes that forms share."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

_ATTRIBUTES = (
    'method="post" action="{0}" hx-post="{0}" hx-target="#toasts" hx-swap="beforeend" hx-disable="find [type=submit]"'
)


@register.simple_tag
def posts_to(view: str, *arguments: str) -> SafeString:
    """Return the attributes of a form that posts to a view; where scripts run, the answer is shown as a toast."""
    return format_html(_ATTRIBUTES, reverse(view, args=arguments))
