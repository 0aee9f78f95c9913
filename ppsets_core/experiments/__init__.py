"""The paper's experiments, one file each: what is computed, the tables it fills and what it found, in numbers."""
