"""Whether a user's logins by password need a second factor: a code of an authenticator app, or a recovery code."""

from base64 import b32encode
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactor:
    """An authenticator app that a user has set up; `last_used_at` is None until the first login with it."""

    set_up_at: datetime | None
    last_used_at: datetime | None
    recovery_codes_left: int


def second_factor_of(user: User) -> SecondFactor | None:
    """Return the user's second factor, or None."""
    device = TOTPDevice.objects.filter(user=user, confirmed=True).first()
    if device is None:
        return None
    return SecondFactor(
        set_up_at=device.created_at,
        last_used_at=device.last_used_at,
        recovery_codes_left=StaticToken.objects.filter(device__user=user).count(),
    )


def has_second_factor(user: User) -> bool:
    """Return whether a login by password asks the user for a code."""
    return TOTPDevice.objects.filter(user=user, confirmed=True).exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolment:
    """What an authenticator app takes: an address for its camera, or the secret, in groups of four to be typed."""

    address: str
    secret: str


def enrolment_of(user: User) -> Enrolment | None:
    """Return the authenticator that the user is setting up, or None."""
    device = TOTPDevice.objects.filter(user=user, confirmed=False).first()
    if device is None:
        return None
    secret = b32encode(device.bin_key).decode().rstrip("=")
    groups = (secret[start : start + 4] for start in range(0, len(secret), 4))
    return Enrolment(address=device.config_url, secret=" ".join(groups))


def users_with_second_factor(keys: list[int]) -> set[int]:
    """Return which of the users with these primary keys have one."""
    return set(TOTPDevice.objects.filter(user__in=keys, confirmed=True).values_list("user_id", flat=True))
