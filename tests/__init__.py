"""This file makes `tests` a package, so that one which a library installs (diffprivlib does) cannot hide it."""
