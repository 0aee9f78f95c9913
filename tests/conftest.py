"""Two test processes on two cores: a second thread in each would only wait for the other's."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
