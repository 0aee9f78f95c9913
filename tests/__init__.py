"""A package of its own: diffprivlib, for one, installs another `tests`, which would hide a folder without this file."""
