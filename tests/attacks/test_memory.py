"""Every bomb again in a process that may hold little: refused with the same words, so memory is bounded."""

import subprocess
import sys

from tests.pages.driving import ROOT

ROOM = 1 << 30  # 1 GB of addresses beyond the libraries' own, which differ from machine to machine
CHILD = f"""
import resource, warnings
from ppsets_core import FileError, read_scores
from ppsets_core.xrays import read_picture
from tests.attacks.score_files import REFUSED as files
from tests.attacks.pictures import REFUSED as pictures

warnings.simplefilter("ignore")
read_scores(b"score\\n0.5")
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + {ROOM}
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for read, every in ((read_picture, pictures), (read_scores, files)):
    for name, (data, said) in every.items():
        try:
            read(data, name=name)
        except FileError as error:
            assert said in str(error), (name, str(error))
        else:
            raise AssertionError(name)
print("all refused,", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, "MB")
"""


def test_bombs_in_a_small_process():
    child = subprocess.run([sys.executable, "-c", CHILD], cwd=ROOT, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr[-2000:]
    assert child.stdout.startswith("all refused")
