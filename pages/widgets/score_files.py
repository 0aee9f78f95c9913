"""Which files of scores the uploaders take."""

SCORES = ["csv", "tsv", "txt", "npy", "npz", "parquet", "json"]
TABLES = [ending for ending in SCORES if ending != "npy"]
"""Of a model's probabilities: an NPY file holds one score per record."""
LARGEST_MB = 100
