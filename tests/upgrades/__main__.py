"""`python -m tests.upgrades`: store a database of this version in this directory, as part of a release."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.upgrades.kept import KEPT, make_database

if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print(make_database(Path(place), KEPT))
    sys.exit()
