"""Mail to people, where the server has a mail server to send it by."""

from django.conf import settings
from django.core.mail import EmailMessage


def is_mail_set_up() -> bool:
    """Return whether mail can be sent."""
    return bool(settings.MRPVM_MAIL)


def send_mail(to: str, subject: str, text: str, message_id: str) -> None:
    """Send one message; `message_id` is the same for each try.

    Raises:
        OSError: the mail server does not take it.
    """
    headers = {"X-Message-Id": message_id, "Auto-Submitted": "auto-generated"}
    EmailMessage(subject=subject, body=text, to=[to], headers=headers).send()
