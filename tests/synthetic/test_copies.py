"""No synthetic X-ray is nearly a copy of a patient's: none comes as close to one as X-rays of two patients do."""

import numpy as np
from PIL import Image

from ppsets_core.synthetic import iter_xrays
from ppsets_core.synthetic.components import standardised
from ppsets_core.xrays.coronahack import read_coronahack
from tests.coronahack import CORONAHACK, needs_coronahack

SIDE = 64


def small(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("F").resize((SIDE, SIDE), Image.Resampling.BOX)).ravel()


def distances(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Root mean square differences between standardised pictures."""
    return np.sqrt(np.maximum(2 - 2 * rows @ others.T / SIDE**2, 0))


@needs_coronahack
def test_no_synthetic_xray_is_nearly_a_patients():
    folder = read_coronahack(CORONAHACK, "train")
    pictures = folder.pictures(at_least=SIDE)
    train = standardised(np.stack([small(Image.fromarray(picture.grey)) for picture in pictures]))
    synthetic = standardised(np.stack([small(Image.fromarray(xray.grey)) for xray in iter_xrays(300, seed=11)]))
    patients = np.array([xray.patient for xray in folder.xrays])
    between = distances(train, train)
    between[patients[:, None] == patients] = np.inf
    patient_to_patient, synthetic_to_patient = between.min(axis=1), distances(synthetic, train).min(axis=1)
    assert synthetic_to_patient.min() > np.quantile(patient_to_patient, 0.01)
    assert np.median(synthetic_to_patient) > np.median(patient_to_patient)
