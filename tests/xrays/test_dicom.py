import io

import numpy as np
import pytest
from pydicom import dcmread, dcmwrite, uid
from pydicom.dataset import Dataset
from pydicom.encaps import encapsulate

from ppsets_core.errors import FileError
from ppsets_core.xrays import read_picture
from ppsets_core.xrays.limits import jpeg_size
from ppsets_core.xrays.picture import Header

from .samples import dicom, film, jpeg, png

FILM = film()
GREY = read_picture(png(FILM)).grey
DEEP = FILM.astype(np.uint16) * 16  # 12 bits


def _table(values, first=0, bits=8) -> Dataset:
    item = Dataset()
    item.add_new("LUTDescriptor", "US", [len(values), first, bits])
    item.add_new("LUTData", "US", [int(v) for v in values])
    return item


@pytest.mark.parametrize(
    "tags",
    [
        {},
        {"WindowCenter": 128, "WindowWidth": 256},
        {"WindowCenter": [128, 40], "WindowWidth": [256, 80]},
        {"WindowCenter": 127.5, "WindowWidth": 255, "VOILUTFunction": "LINEAR_EXACT"},
        {"RescaleSlope": 2, "RescaleIntercept": -100, "WindowCenter": 155.5, "WindowWidth": 511},
        {"RescaleSlope": 1, "RescaleIntercept": 0},
        {"WindowCenter": 128, "WindowWidth": 0},
        {"ModalityLUTSequence": [_table(range(256))]},
        {"VOILUTSequence": [_table(range(256))]},
        {"syntax": uid.ImplicitVRLittleEndian},
        {"syntax": uid.ImplicitVRLittleEndian, "VOILUTSequence": [_table(range(256))]},
        {"PhotometricInterpretation": "MONOCHROME1"},
        {"PhotometricInterpretation": "MONOCHROME1", "WindowCenter": 128, "WindowWidth": 256},
        {"RescaleSlope": -1, "RescaleIntercept": 255},
    ],
)
def test_dicom_of_the_same_8_bit_pixels_is_bit_identical_to_png(tags):
    is_inverted = "PhotometricInterpretation" in tags or tags.get("RescaleSlope", 1) < 0
    picture = read_picture(dicom(255 - FILM if is_inverted else FILM, **tags), "a.dcm")
    assert np.array_equal(picture.grey, GREY)
    assert picture.chroma == 0


@pytest.mark.parametrize("stored", [DEEP, (FILM.astype(np.int16) - 128) * 16], ids=["unsigned", "signed"])
def test_16_bits_are_scaled_by_16_and_12_of_them_by_12(stored):
    deep = FILM.astype(np.uint16) * 257
    assert np.array_equal(read_picture(dicom(deep)).grey, read_picture(png(deep)).grey)
    assert np.abs(read_picture(dicom(stored, bits=12)).grey - GREY).max() <= 1 / 255


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"WindowCenter": 2048, "WindowWidth": 1001}, lambda x: (x - 1547.5) / 1000),
        (
            {"RescaleSlope": 0.5, "RescaleIntercept": -1000, "WindowCenter": 0, "WindowWidth": 1001},
            lambda x: (x * 0.5 - 1000 + 500.5) / 1000,
        ),
        (
            {"WindowCenter": 2048, "WindowWidth": 1000, "VOILUTFunction": "SIGMOID"},
            lambda x: 1 / (1 + np.exp(-4 * (x - 2048) / 1000)),
        ),
    ],
    ids=["clips and stretches", "in rescaled units", "sigmoid"],
)
def test_a_window_follows_its_formula(tags, expected):
    grey = read_picture(dicom(DEEP, bits=12, **tags)).grey
    assert np.allclose(grey, np.clip(expected(DEEP.astype(float)), 0, 1), atol=1e-6)


def test_table_of_interest_comes_after_rescale_and_holds_its_ends():
    table = _table(np.arange(100, 200), first=1100)
    grey = read_picture(dicom(FILM, RescaleSlope=1, RescaleIntercept=1000, VOILUTSequence=[table])).grey
    assert np.allclose(grey, np.clip(FILM.astype(float), 100, 199) / 255)


def test_colour_dicom_has_luma_and_chroma():
    red = np.zeros((8, 8, 3), np.uint8)
    red[..., 0] = 255
    picture = read_picture(dicom(red))
    assert picture.chroma == 1
    assert np.array_equal(picture.grey, read_picture(png(red)).grey)


@pytest.mark.parametrize("syntax", [uid.RLELossless, uid.JPEGLSLossless, uid.JPEGLSNearLossless])
@pytest.mark.parametrize("stored", [FILM, DEEP])
def test_compressed_dicom_is_decoded_whatever_its_depth(syntax, stored):
    plain = dicom(stored, bits=8 if stored is FILM else 12)
    data = dcmread(io.BytesIO(plain))
    data.compress(syntax, **({"jls_error": 1} if syntax == uid.JPEGLSNearLossless else {}))
    buffer = io.BytesIO()
    dcmwrite(buffer, data)
    apart = np.abs(read_picture(buffer.getvalue()).grey - read_picture(plain).grey).max()
    assert apart <= (2 / 255 if syntax == uid.JPEGLSNearLossless else 0)


def test_a_jpeg_within_dicom_is_decoded():
    lossy = dicom(FILM, syntax=uid.JPEGBaseline8Bit, PixelData=encapsulate([jpeg(FILM)]))
    assert np.abs(read_picture(lossy).grey - GREY).max() < 0.06


def test_dicom_without_preamble_is_read():
    for syntax in (None, uid.ImplicitVRLittleEndian):
        data = dicom(FILM, **({"syntax": syntax} if syntax else {}))
        bare = data[data.index(b"\x08\0\x16\0") :]
        assert np.array_equal(read_picture(bare).grey, GREY)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (dicom(FILM, syntax=uid.JPEGLosslessSV1, PixelData=encapsulate([b"x"])), "python-gdcm"),
        (dicom(FILM, syntax=uid.MPEG2MPML, PixelData=encapsulate([b"x"])), "no decoder"),
        (dicom(FILM, syntax=uid.JPEG2000Lossless, PixelData=encapsulate([b"x" * 80])), "cut off"),
        (dicom(FILM, syntax=uid.RLELossless, PixelData=encapsulate([bytes(33_000_000)])), "too large"),
        (dicom(FILM, syntax=uid.DeflatedExplicitVRLittleEndian), "Deflated"),
        (dicom(FILM, PhotometricInterpretation="PALETTE COLOR"), "PALETTE COLOR"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning:pydicom")
def test_what_is_not_one_xray_is_refused_with_a_sentence(data, said):
    with pytest.raises(FileError, match=f"^a.dcm: .*{said}.*\\.$"):
        read_picture(data, "a.dcm")


def test_big_endian_is_read():
    data = dcmread(io.BytesIO(dicom(FILM)))
    data.file_meta.TransferSyntaxUID = uid.ExplicitVRBigEndian
    data.PixelData, data.BitsAllocated = DEEP.astype(">u2").tobytes(), 16
    data.BitsStored, data.HighBit = 12, 11
    buffer = io.BytesIO()
    dcmwrite(buffer, data, implicit_vr=False, little_endian=False, force_encoding=True)
    assert np.array_equal(read_picture(buffer.getvalue()).grey, read_picture(dicom(DEEP, bits=12)).grey)


def test_the_size_of_a_jpeg_is_read_whatever_its_depth():
    lossless = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc3\x00\x0b\x10\x01\x02\x03\x04\x01\x00\x11\x00"
    assert jpeg_size(lossless) == (0x0304, 0x0102)
    for damaged in (b"", b"\xff\xd8", lossless[:8], b"\xff\xd8" + b"\xff\xe0\x00\x00" * 9):
        with pytest.raises(FileError, match="how large"):
            jpeg_size(damaged)


def test_the_header_is_read():
    film = dicom(FILM, Modality="CT", BodyPartExamined="HAND", ViewPosition="LL")
    assert read_picture(film).header == Header("CT", "HAND", "LL")
