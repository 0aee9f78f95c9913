"""One family of exceptions, each with a sentence that a clinician can act on."""

from importlib.util import find_spec
from typing import Any

EXTRAS = {
    "xrays": ("torch", "torchvision", "pydicom", "highdicom", "opacus", "safetensors"),
    "app": ("streamlit", "plotly", "pandas"),
    "login": ("authlib", "httpx"),
    "cluster": ("dask", "distributed", "cryptography"),
}
"""Which extra installs each package that only some of ppsets needs."""


class PpsetsError(Exception):
    """Anything ppsets refuses. Its text says what is wrong, where, and what to do; never a private value."""


class InputError(PpsetsError, ValueError):
    """A number or an array that the method cannot take."""


class FileError(InputError):
    """An uploaded or named file that cannot be used."""


class LedgerError(PpsetsError):
    """The privacy ledger cannot be read, written or trusted."""


class BudgetError(LedgerError):
    """The release would exceed the data set's privacy budget; nothing was drawn or charged."""


class RepeatError(LedgerError):
    """An identical release was paid for before and can be used again for free; nothing was drawn or charged."""

    @property
    def earlier(self) -> Any:
        """The `Release` that is identical."""
        return self.args[1]

    def __str__(self) -> str:
        return (
            f"{self.args[0]} `ppsets ledger export {self.earlier.id}` writes it again. If these are other records, or "
            "to draw anew and pay again: --again, in Python again=True."
        )


class AccessError(LedgerError):
    """The person may not do this, or is no longer logged in; nothing was drawn, charged or changed."""


class MissingPackageError(PpsetsError, ImportError):
    """A package of one of the extras is not installed."""


class ClusterError(PpsetsError):
    """The cluster cannot be reached, or was lost; nothing was drawn or charged."""


def need(*packages: str) -> None:
    """Raise `MissingPackageError` for the first of the packages that is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise missing(package)


def missing(package: str | None) -> MissingPackageError:
    """The error that names a package and how to install it."""
    extra = next((extra for extra, packages in EXTRAS.items() if package in packages), None)
    how = package if extra is None else f"'ppsets[{extra}]'"
    return MissingPackageError(f"This needs {package}, which is not installed: pip install {how}")
