"""What makes the bundled files and the documents. Run from the top folder: `python -m tools.build_experiments`."""
