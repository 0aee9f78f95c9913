"""Parse an untrusted file in a child process with hard limits on memory and time."""

import importlib
import subprocess
import sys
from pathlib import Path

from ppsets_core.errors import FileError

MEMORY, SECONDS = 700_000_000, 30
WAIT = 10 * SECONDS  # by the clock, where the machine is busy with other things
START = "import sys; sys.path.insert(0, sys.argv[1]); from ppsets_core.files.sandbox import work; work(*sys.argv[2:])"
DONE, REFUSED = b"+", b"-"
TOO_MUCH = f"it asks for more than {MEMORY // 1_000_000} MB of memory or {SECONDS} seconds to be read; save it anew."


def parse_in_sandbox(function: str, data: bytes) -> bytes:
    """Call the function `module:name` on the bytes in a child process and return its answer.

    Its FileErrors are raised here; a crash or too much memory or time is a FileError, too."""
    package = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-I", "-c", START, str(package), function, str(MEMORY), str(SECONDS)]
    try:
        child = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=WAIT)
    except subprocess.TimeoutExpired:
        raise FileError(TOO_MUCH) from None
    except OSError as error:
        raise FileError(f"no process could be started to read it ({error.strerror}); try again.") from None
    if child.stdout[:1] == REFUSED:
        raise FileError(child.stdout[1:].decode())
    if child.returncode or child.stdout[:1] != DONE:
        raise FileError(TOO_MUCH)
    return child.stdout[1:]


def work(function: str, memory: str, seconds: str) -> None:
    """In the child: set the limits, then parse."""
    module, name = function.split(":")
    parse = getattr(importlib.import_module(module), name)
    data = sys.stdin.buffer.read()
    _limit(int(memory), int(seconds))
    try:
        answer = DONE + parse(data)
    except FileError as error:
        answer = REFUSED + str(error).encode()
    except MemoryError:
        answer = REFUSED + TOO_MUCH.encode()
    sys.stdout.buffer.write(answer)


def _limit(memory: int, seconds: int) -> None:
    """Limit memory beyond what is in use now. Windows has no such limits; there only the clock bounds it."""
    if sys.platform == "win32":
        return
    import resource

    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    if Path("/proc/self/statm").exists():
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for limit, most in (
        (resource.RLIMIT_AS, taken + memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        _, allowed = resource.getrlimit(limit)
        most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(limit, (most, most))
