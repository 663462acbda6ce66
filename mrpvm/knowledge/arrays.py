"""Numpy, loaded the one way that suits searches: import `np` from here, and only where arrays are really met."""

import os
from typing import Any

# Read when numpy loads. With more threads, such small products cost four times the processor and save no time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

type Array = np.ndarray[Any, Any]

__all__ = ["Array", "np"]
