"""What read_folder makes of bad files, and its stream of pictures."""

import threading
from dataclasses import replace

import pytest

from ppsets_core.errors import FileError
from ppsets_core.xrays import read_folder
from ppsets_core.xrays.folder import THREADS

from .samples import dicom, film, folder_of, png

PICTURE = png(film())


@pytest.mark.parametrize(
    "files", [{}, {"a.txt": b"words"}, {"a.png": b""}, {"a.png": PICTURE, "l.csv": b"file,label\n"}]
)
def test_no_usable_file_is_an_error_that_says_what_would_be(files):
    with pytest.raises(FileError, match=r"no usable X-ray in x\.zip\. Usable are PNG, JPEG, TIFF and DICOM"):
        folder_of(files)
    with pytest.raises(FileError, match="Usable are"):
        read_folder([])


def test_unreadable_pictures_are_passed_over_and_told_with_the_reason():
    files = {"1.png": PICTURE, "2.png": PICTURE[:-30], "3.dcm": dicom(None), "4.png": PICTURE}
    folder, refused = folder_of(files, labels=False), []
    assert [picture.name for picture in folder.pictures()] == ["1.png", "4.png"]
    pairs = list(folder.readable(refused))
    assert [(xray.name, picture.name) for xray, picture in pairs] == [("1.png",) * 2, ("4.png",) * 2]
    assert {name: folder.original(name) for name in ("1.png", "4.png")} == {"1.png": PICTURE, "4.png": PICTURE}
    assert [one.name for one in refused] == ["2.png", "3.dcm"]
    assert "cut off" in refused[0].reason
    assert folder.refused == ()


def _readers() -> int:
    return sum(thread.name.startswith("xray-reader") for thread in threading.enumerate())


def test_pictures_come_in_order_and_reading_stays_a_few_ahead(tmp_path):
    for i in range(40):
        (tmp_path / f"{i:02}.png").write_bytes(png(film(20 + 5 * (i % 7), 30, seed=i)))
    folder, refused = read_folder(tmp_path), []
    stream = folder.readable(refused)
    assert next(stream)[1].name == "00.png"
    for path in tmp_path.iterdir():
        path.unlink()
    read = [picture.name for _, picture in stream]
    assert read == sorted(read)
    assert sorted([*read, *(one.name for one in refused)]) == [xray.name for xray in folder.xrays[1:]]
    assert len(read) <= 2 * THREADS + 1
    assert _readers() == 0


def test_without_threads_nothing_is_read_ahead_and_the_same_comes_out():
    folder = folder_of({f"{i}.png": PICTURE for i in range(5)})
    stream = replace(folder, threads=0).pictures()
    names = [next(stream).name]
    assert _readers() == 0
    assert [*names, *(picture.name for picture in stream)] == [picture.name for picture in folder.pictures()]


def test_stopping_early_ends_the_threads():
    folder = folder_of({f"{i}.png": PICTURE for i in range(30)})
    stream = folder.pictures()
    next(stream)
    assert _readers() > 0
    stream.close()
    assert _readers() == 0
    assert len(list(folder.pictures())) == 30
