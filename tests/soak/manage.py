"""`python tests/soak/manage.py ...`: manage.py, with threads that can sleep while libfaketime steps the clock.

libfaketime takes the stepped clock's time from absolute deadlines of the monotonic one, and `time.sleep` fails.
"""

import os
import runpy
import sys
import threading
import time

time.sleep = lambda seconds: threading.Event().wait(seconds) and None
sys.path[0] = os.getcwd()
runpy.run_path("manage.py", run_name="__main__")
