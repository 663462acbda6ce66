"""`python -m tests.upgrades`: keep a database of this version beside this file; a part of releasing it."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.upgrades.kept import KEPT, make_database

if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print(make_database(Path(place), KEPT))
    sys.exit()
