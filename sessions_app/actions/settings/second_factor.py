"""The second factor of logins by password: set up with an authenticator app, checked, renewed and removed."""

import math

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from mrpvm.errors import Conflict, InvalidInput
from mrpvm.preview import counted
from sessions_app.actions.settings.audit import record_of_user
from sessions_app.models import AuditKind

RECOVERY_CODES = 10
WRONG = "This code is not right. Codes of the app change every 30 seconds, and each works once."


@transaction.atomic
def begin_enrolment(user: User) -> None:
    """Make a new authenticator for the user's app to scan; it takes effect once a code of it is confirmed."""
    TOTPDevice.objects.filter(user=user, confirmed=False).delete()
    TOTPDevice.objects.create(user=user, name="app", confirmed=False)


def confirm_enrolment(user: User, code: str) -> list[str]:
    """Put the new authenticator into effect; return the recovery codes, which cannot be read again.

    Raises:
        InvalidInput: the code is wrong, or comes too soon after wrong ones.
        Conflict: the user has an authenticator in effect, which must be removed first.
    """
    codes: list[str] = []
    with transaction.atomic():
        devices = {device.confirmed: device for device in TOTPDevice.objects.select_for_update().filter(user=user)}
        if True in devices:
            raise Conflict("A second factor is set up already. Remove it first.")
        device = devices.get(False)
        seconds = _seconds_to_wait(device)
        if device is not None and not seconds and _verified(device, code):
            device.confirmed = True
            device.save()
            codes = _replace_recovery_codes(user)
            record_of_user(AuditKind.SECOND_FACTOR_ADDED, user)
    # Raised outside of the transaction, so that the count of wrong codes is stored.
    if not codes:
        raise _refused(seconds)
    return codes


def check_code(user: User, code: str) -> None:
    """Check and use up a code of the user's app, or a recovery code.

    Raises:
        InvalidInput: it is neither, was used already, or comes too soon after wrong codes.
    """
    with transaction.atomic():
        device = _lock_device(user, code)
        seconds = _seconds_to_wait(device)
        is_right = device is not None and not seconds and _verified(device, code)
        if is_right and isinstance(device, StaticDevice):
            record_of_user(AuditKind.RECOVERY_CODE_USED, user, left=device.token_set.count())
    # Raised outside of the transaction, as above.
    if not is_right:
        raise _refused(seconds)


def _refused(seconds: int) -> InvalidInput:
    """Return the error for a code that is wrong, or comes while the next attempt has to wait."""
    if not seconds:
        return InvalidInput(WRONG)
    return InvalidInput(f"Too many wrong codes. Try again in {counted(seconds, 'second')}.")


def renew_recovery_codes(user: User, code: str) -> list[str]:
    """Return new recovery codes, which cannot be read again; the earlier ones stop working.

    Raises:
        InvalidInput: see `check_code`.
    """
    check_code(user, code)
    with transaction.atomic():
        record_of_user(AuditKind.RECOVERY_CODES_RENEWED, user)
        return _replace_recovery_codes(user)


def remove_second_factor(user: User, code: str) -> None:
    """Remove the second factor of the user.

    Raises:
        InvalidInput: see `check_code`.
    """
    check_code(user, code)
    reset_second_factor(user)


@transaction.atomic
def reset_second_factor(user: User) -> bool:
    """Remove the second factor of somebody who has lost it; return whether there was one."""
    StaticDevice.objects.filter(user=user).delete()
    removed, _ = TOTPDevice.objects.filter(user=user).delete()
    if removed:
        record_of_user(AuditKind.SECOND_FACTOR_REMOVED, user)
    return bool(removed)


def reset_second_factor_of(name: str) -> bool:
    """Remove the second factor of the user of this name; see `reset_second_factor`.

    Raises:
        InvalidInput: there is none.
    """
    user = User.objects.filter(username=name).first()
    if user is None:
        raise InvalidInput(f"No user '{name}'.")
    return reset_second_factor(user)


def _lock_device(user: User, code: str) -> TOTPDevice | StaticDevice | None:
    """Return the locked device to check the code with: the app if it has only digits, else the recovery codes."""
    model = TOTPDevice if _plain(code).isdigit() else StaticDevice
    return model.objects.select_for_update().filter(user=user, confirmed=True).first()


def _seconds_to_wait(device: TOTPDevice | StaticDevice | None) -> int:
    if device is None:
        return 0
    is_allowed, why = device.verify_is_allowed()
    return 0 if is_allowed else max(1, math.ceil((why["locked_until"] - timezone.now()).total_seconds()))


def _verified(device: TOTPDevice | StaticDevice, code: str) -> bool:
    return bool(device.verify_token(_plain(code)))


def _plain(code: str) -> str:
    """Return a code in its stored form, without the spaces, hyphens and capitals that people type."""
    return "".join(character for character in code.lower() if character.isalnum())[:16]


def _replace_recovery_codes(user: User) -> list[str]:
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="recovery codes")
    codes = [StaticToken.random_token() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return [f"{code[:4]}-{code[4:]}" for code in codes]
