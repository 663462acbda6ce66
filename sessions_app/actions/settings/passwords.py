"""The password of a user: checked when it is set, changed by its owner."""

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from mrpvm.errors import InvalidInput


def set_checked_password(user: User, password: str) -> None:
    """Set the password of a user who is not saved here.

    Raises:
        InvalidInput: it is too weak.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages)) from None
    user.set_password(password)


@transaction.atomic
def change_own_password(user: User, present: str, password: str) -> None:
    """Change the user's password, or set a first one; the user's logins in other browsers end.

    Raises:
        InvalidInput: `present` is not the user's password, where there is one, or the other one is too weak.
    """
    if user.has_usable_password() and not user.check_password(present):
        raise InvalidInput("That is not your present password.")
    set_checked_password(user, password)
    user.save(update_fields=["password"])
