"""Whatever the bytes, reading ends in a picture, a reason or a FileError, never in another exception."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydicom.encaps import encapsulate
from pydicom.uid import JPEGBaseline8Bit, RLELossless

from ppsets_core.errors import FileError
from ppsets_core.xrays import read_folder, read_picture
from ppsets_core.xrays.labels import parse_labels

from .samples import dicom, film, jpeg, png, tiff, upload, zipped

FILM = film(12, 10)
VALID = [
    png(FILM),
    png(FILM.astype(np.uint16) * 257),
    jpeg(FILM),
    jpeg(np.stack([FILM] * 3, axis=2), progressive=True),
    tiff(FILM),
    tiff(FILM, compression="tiff_lzw"),
    tiff(FILM.astype(np.uint16)),
    dicom(FILM),
    dicom(FILM.astype(np.uint16), bits=12, WindowCenter=2048, WindowWidth=4096, RescaleSlope=1, RescaleIntercept=0),
    dicom(FILM, syntax=JPEGBaseline8Bit, PixelData=encapsulate([jpeg(FILM)])),
    dicom(FILM, syntax=RLELossless, PixelData=encapsulate([(1).to_bytes(4, "little") * 16 + bytes(200)])),
]
ZIP = zipped({"normal/a.png": png(FILM), "viral/b.jpg": jpeg(FILM), "labels.csv": b"file,label\na.png,x\nb.jpg,y\n"})
STARTS = [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", bytes(128) + b"DICM", b"\x08\0\x05\0CS"]

pytestmark = pytest.mark.filterwarnings("ignore")


@st.composite
def mutated(draw, valid: list[bytes]) -> bytes:
    data = bytearray(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data) - 1))
        data[at : at + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
        if not data:
            break
    return bytes(data[: draw(st.integers(0, len(data)) | st.just(len(data)))])


def _is_picture_or_file_error(data: bytes, at_least: int | None = None) -> None:
    try:
        picture = read_picture(data, at_least=at_least)
    except FileError:
        return
    assert picture.grey.dtype == np.float32
    assert picture.grey.ndim == 2
    assert picture.grey.min() >= 0
    assert picture.grey.max() <= 1
    assert 0 <= picture.chroma <= 1


@settings(deadline=None, max_examples=150)
@given(start=st.sampled_from(STARTS), rest=st.binary(max_size=300))
def test_random_bytes(start, rest):
    _is_picture_or_file_error(start + rest)


@pytest.mark.faults
@settings(deadline=None, max_examples=400)
@given(data=mutated(VALID), at_least=st.sampled_from([None, 4]))
def test_mutated_pictures(data, at_least):
    _is_picture_or_file_error(data, at_least)


@pytest.mark.faults
@settings(deadline=None, max_examples=150)
@given(data=mutated([ZIP]))
def test_mutated_zips(data):
    try:
        folder = read_folder(upload("x.zip", data))
    except FileError:
        return
    refused = []
    read = list(folder.readable(refused))
    assert all(xray.name == picture.name for xray, picture in read)
    assert len(read) + len(refused) == len(folder.xrays)


@pytest.mark.faults
@settings(deadline=None, max_examples=150)
@given(data=st.binary(max_size=200) | mutated([b"file,label,patient\na.png,normal,p1\n", b"file;label\n'a';\"b\"\n"]))
def test_mutated_labels(data):
    try:
        rows = parse_labels(data)
    except FileError:
        return
    assert all(row.label or row.problem for row in rows)
