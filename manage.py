#!/usr/bin/env python
"""Django's command line for this server: `python manage.py help`."""

import sys

from django.core.management import ManagementUtility

from sessions_app.management.command_line import run

if __name__ == "__main__":
    run(ManagementUtility(sys.argv))
