"""Packages that only some of ppsets needs: which extra installs each, and the sentence that asks for it."""

from importlib.util import find_spec

from ppsets_core.errors import MissingPackageError

EXTRAS = {
    "xrays": ("torch", "torchvision", "pydicom", "highdicom", "opacus", "safetensors"),
    "app": ("streamlit", "plotly", "pandas"),
    "login": ("authlib", "httpx"),
    "cluster": ("dask", "distributed", "cryptography"),
}


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
