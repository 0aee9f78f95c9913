"""Which version this is, said once."""

__version__ = "0.2.0"
