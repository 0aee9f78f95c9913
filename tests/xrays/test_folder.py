"""What read_folder makes of bad files, and its stream of pictures."""

import threading

import pytest

from ppsets_core.errors import FileError
from ppsets_core.xrays import Picture, Refused, read_folder
from ppsets_core.xrays.prefetch import AHEAD

from .samples import dicom, film, png, upload, zipped

PICTURE = png(film())


def _folder(files: dict[str, bytes | str], labels=None):
    data = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    return read_folder(upload("x.zip", zipped(data)), labels=labels)


@pytest.mark.parametrize(
    "files", [{}, {"a.txt": b"words"}, {"a.png": b""}, {"a.png": PICTURE, "l.csv": b"file,label\n"}]
)
def test_no_usable_file_is_an_error_that_says_what_would_be(files):
    with pytest.raises(FileError, match=r"no usable X-ray in x\.zip\. Usable are PNG, JPEG, TIFF and DICOM"):
        _folder(files)


def test_no_file_at_all_is_an_error():
    with pytest.raises(FileError, match="Usable are"):
        read_folder([])


def test_unreadable_pictures_keep_their_place_in_the_stream():
    files = {"1.png": PICTURE, "2.png": PICTURE[:-30], "3.dcm": dicom(None), "4.png": PICTURE}
    results = list(_folder(files).pictures())
    assert [type(result) for result in results] == [Picture, Refused, Refused, Picture]
    assert [result.name for result in results] == list(files)
    assert "cut off" in results[1].reason


def _readers() -> int:
    return sum(thread.name.startswith("xray-reader") for thread in threading.enumerate())


def test_pictures_come_in_order_and_reading_stays_a_few_ahead(tmp_path):
    for i in range(40):
        (tmp_path / f"{i:02}.png").write_bytes(png(film(20 + 5 * (i % 7), 30, seed=i)))
    folder = read_folder(tmp_path)
    stream = folder.pictures()
    assert next(stream).name == "00.png"
    for path in tmp_path.iterdir():
        path.unlink()
    rest = list(stream)
    assert [item.name for item in rest] == [xray.name for xray in folder.xrays[1:]]
    assert sum(isinstance(item, Picture) for item in rest) <= AHEAD + 1
    assert _readers() == 0


def test_stopping_early_ends_the_threads():
    folder = _folder({f"{i}.png": PICTURE for i in range(30)})
    stream = folder.pictures()
    next(stream)
    assert _readers() > 0
    stream.close()
    assert _readers() == 0
    assert len(list(folder.pictures())) == 30
