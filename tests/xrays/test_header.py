import numpy as np

from ppsets_core.xrays.picture import Header, read_picture
from tests.xrays import samples


def test_a_picture_without_a_header_says_nothing():
    assert read_picture(samples.png(np.zeros((70, 70), dtype=np.uint8))).header == Header()


def test_a_dicom_header_is_read():
    film = samples.dicom(samples.film(), Modality="CT", BodyPartExamined="HAND", ViewPosition="LL")
    assert read_picture(film).header == Header("CT", "HAND", "LL")
