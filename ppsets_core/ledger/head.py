"""How far the ledger had got, kept beside its key: an older copy of the ledger, put back alone, is behind it."""

import os
from collections.abc import Sequence
from pathlib import Path

from ppsets_core.errors import LedgerError


def head_path(ledger: Path) -> Path:
    return ledger.with_name(ledger.name + ".head")


def write_head(ledger: Path, count: int, seal: str) -> None:
    """On disk when it returns. Only whoever holds the ledger's write lock may call it, so that it never goes back."""
    path = head_path(ledger)
    new = path.with_name(path.name + ".new")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(f"{count} {seal}\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
        if os.name == "posix":
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise LedgerError(
            f"{path}, which says how far the ledger has got, cannot be written ({error.strerror}). "
            "Nothing was released. Check that the disk is not full and that the folder can be written."
        ) from None


def check_head(ledger: Path, seals: Sequence[str]) -> None:
    """The ledger must have got at least as far as the head says, by the same way."""
    path = head_path(ledger)
    try:
        count, _, seal = path.read_text(encoding="ascii").strip().partition(" ")
        reached = count.isdigit() and int(count) < len(seals) and seals[int(count)] == seal
    except FileNotFoundError:
        raise LedgerError(
            f"{path}, which says how far the ledger had got, is missing. Nothing was released. "
            "Restore it from the backup of the ledger."
        ) from None
    except OSError as error:
        raise LedgerError(f"{path} cannot be read ({error.strerror}). Nothing was released.") from None
    except ValueError:
        reached = False
    if not reached:
        raise LedgerError(
            f"The ledger {ledger} is an older copy than the one last written, or {path} is damaged. Nothing was "
            "released. Put the newest ledger back; an older one would forget what was spent."
        )
