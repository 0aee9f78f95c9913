"""Synthetic chest X-rays, labelled, reproducible by seed: what demos and tests use instead of patients' images."""

from ppsets_core.synthetic.drawing import SyntheticXray, draw_xrays, iter_xrays
from ppsets_core.synthetic.folder import write_folder

__all__ = ["SyntheticXray", "draw_xrays", "iter_xrays", "write_folder"]
