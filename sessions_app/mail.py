"""Mail to people, where the server has a mail server to send it by."""

from smtplib import SMTPRecipientsRefused, SMTPResponseException

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
    try:
        EmailMessage(subject=subject, body=text, to=[to], headers=headers).send()
    except SMTPRecipientsRefused as refused:
        raise OSError(_answer(*next(iter(refused.recipients.values())))) from refused
    except SMTPResponseException as refused:
        raise OSError(_answer(refused.smtp_code, refused.smtp_error)) from refused


def _answer(code: int, said: bytes | str) -> str:
    words = said.decode(errors="replace") if isinstance(said, bytes) else said
    return f"The mail server answered {code}: {words}"
