"""Two test processes on two cores: a second thread in each would only wait for the other's. No test has a deadline."""

import os

from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")
