#!/usr/bin/env python
"""Django's command line for this server: `python manage.py help`."""

import gc
import os
import sys


def main() -> None:
    """Run the command that the arguments name."""
    # As sessions_app/management/command_line.py:
    os.umask(0o077)
    gc.disable()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
