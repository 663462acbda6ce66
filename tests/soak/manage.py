"""`python tests/soak/manage.py ...`: manage.py, with a `time.sleep` that works while libfaketime steps the clock.

libfaketime applies the clock's step to absolute deadlines of the monotonic clock, so `time.sleep` fails.
"""

import os
import runpy
import sys
import threading
import time

time.sleep = lambda seconds: threading.Event().wait(seconds) and None
sys.path[0] = os.getcwd()
runpy.run_path("manage.py", run_name="__main__")
