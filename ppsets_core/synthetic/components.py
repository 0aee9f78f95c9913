"""Principal components of pictures, the space that the generator draws from and the chest X-ray gate measures in."""

import numpy as np


def standardised(rows: np.ndarray) -> np.ndarray:
    """Each picture (a row) at mean 0 and standard deviation 1, so that brightness and contrast do not matter."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.maximum(centred.std(axis=1, keepdims=True), 1e-6)


def principal_components(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean (p,), the leading components (count, p) and all variances, in descending order.

    A component's sign is free; its largest entry is made positive, so that learning again gives the same file."""
    mean = rows.mean(axis=0)
    centred = rows - mean
    wide = len(rows) < rows.shape[1]
    variances, vectors = np.linalg.eigh((centred @ centred.T if wide else centred.T @ centred) / len(rows))
    variances, vectors = np.maximum(variances[::-1], 0), vectors[:, ::-1][:, :count]
    components = (vectors.T @ centred) if wide else vectors.T
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)
    return mean, components * np.sign(largest), variances
