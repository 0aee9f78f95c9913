"""One set of files by directory, zip, upload and list; and directories that mean harm."""

import os

import numpy as np
import pytest

from ppsets_core.errors import FileError
from ppsets_core.xrays import read_folder, read_picture

from .samples import dicom, film, jpeg, png, tiff, upload, zipped

FILES = {
    "normal/a.png": png(film(seed=1)),
    "normal/b.jpg": jpeg(film(seed=2)),
    "viral/a.png": png(film(seed=3).astype(np.uint16) * 257),
    "viral/deep/c.dcm": dicom(film(seed=4)),
    "viral/d.tif": tiff(film(seed=5)),
}
PICTURE = FILES["normal/a.png"]


def _written(root, files):
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def _zip_path(path, files):
    path.write_bytes(zipped(files))
    return path


SOURCES = {
    "directory": lambda tmp: _written(tmp / "x", FILES),
    "zip": lambda tmp: _zip_path(tmp / "x.zip", FILES),
    "zip of the folder": lambda tmp: _zip_path(tmp / "x.zip", {f"x/{name}": data for name, data in FILES.items()}),
    "zip upload": lambda tmp: upload("x.zip", zipped(FILES)),
    "open zip": lambda tmp: _zip_path(tmp / "x.zip", FILES).open("rb"),
    "directory upload": lambda tmp: [upload(f"picked/{name}", data) for name, data in FILES.items()],
    "paths": lambda tmp: [_written(tmp / "x", FILES) / name for name in FILES],
    "folders": lambda tmp: [_written(tmp / "x", FILES) / "normal", tmp / "x" / "viral"],
    "zip with clutter": lambda tmp: upload("x.zip", zipped(FILES | CLUTTER)),
    "directory with clutter": lambda tmp: _written(tmp / "x", FILES | CLUTTER),
}
CLUTTER = {"__MACOSX/normal/._a.png": b"x", "normal/.DS_Store": b"x", "Thumbs.db": b"x", ".git/config": b"x"}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_names_labels_and_greys(source, tmp_path):
    folder = read_folder(SOURCES[source](tmp_path), classes=("normal", "viral"))
    assert {xray.name: xray.label for xray in folder.xrays} == {name: name.split("/")[0] for name in FILES}
    assert folder.refused == ()
    assert folder.classes == ("normal", "viral")
    pictures = list(folder.pictures())
    assert [picture.name for picture in pictures] == [xray.name for xray in folder.xrays]
    for picture in pictures:
        assert np.array_equal(picture.grey, read_picture(FILES[picture.name]).grey)
    assert len(list(folder.pictures(at_least=20))) == len(FILES)


def test_several_zips_become_folders_and_a_zip_named_after_a_class_labels_what_is_in_it_alone_or_not():
    uploads = [upload(f"{label}.zip", zipped({"a.png": FILES["normal/a.png"]})) for label in ("normal", "viral")]
    assert [(x.name, x.label) for x in read_folder(uploads, classes=("normal", "viral")).xrays] == [
        ("normal/a.png", "normal"),
        ("viral/a.png", "viral"),
    ]
    assert [x.label for x in read_folder(uploads[:1], classes=("normal", "viral")).xrays] == ["normal"]
    assert [x.label for x in read_folder(uploads).xrays] == [None, None]


def test_a_bad_file_among_several_is_named_and_the_rest_goes_on(tmp_path):
    (tmp_path / "good.png").write_bytes(PICTURE)
    closed = upload("closed.png", PICTURE)
    closed.close()
    folder = read_folder([tmp_path / "good.png", tmp_path / "gone.png", closed])
    assert [xray.name for xray in folder.xrays] == ["good.png"]
    assert [refused.name for refused in folder.refused] == ["gone.png", "closed.png"]
    (tmp_path / "cut.zip").write_bytes(zipped(FILES)[:2000])
    with pytest.raises(FileError, match=r"^cut\.zip: "):  # one record must not take a whole zip away
        read_folder([tmp_path / "good.png", tmp_path / "cut.zip"])
    with pytest.raises(FileError, match=r"^gone\.zip: There is no such file"):
        read_folder(tmp_path / "gone.zip")


def test_a_pipe_is_read_once_and_kept():
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as sink:
        sink.write(PICTURE)
    with os.fdopen(reader, "rb") as pipe:
        (picture,) = read_folder(pipe).pictures()
    assert np.array_equal(picture.grey, read_picture(PICTURE).grey)


def test_uploads_of_one_name_are_told_apart():
    for times in (1, 3):
        folder = read_folder([upload("a.png", PICTURE)] * times)
        assert [xray.name for xray in folder.xrays] == ["a.png", "a.png (2)", "a.png (3)"][:times]
        assert folder.classes == ()


def test_too_many_files_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("ppsets_core.xrays.listing.MAX_FILES", 3)
    for source in (upload("x.zip", zipped(FILES)), _written(tmp_path, FILES), [upload("a.png", PICTURE)] * 4):
        with pytest.raises(FileError, match="more than 3 files"):
            read_folder(source)


def test_links_out_of_a_directory_are_refused_and_links_within_it_read(tmp_path):
    root = _written(tmp_path / "x", {"good.png": PICTURE})
    _written(tmp_path / "secret", {"s.png": PICTURE})
    (root / "out.png").symlink_to(tmp_path / "secret" / "s.png")
    (root / "outdir").symlink_to(tmp_path / "secret")
    (root / "within.png").symlink_to(root / "good.png")
    (root / "nowhere.png").symlink_to(root / "gone.png")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe.png")
    folder = read_folder(root)
    assert [xray.name for xray in folder.xrays] == ["good.png", "within.png"]
    reasons = {refused.name: refused.reason for refused in folder.refused}
    assert set(reasons) == {"out.png", "outdir", "nowhere.png", "loop", "pipe.png"}
    assert all("a link that leads to a folder or out of this one" in reason for reason in reasons.values())


def test_names_are_shown_without_control_or_direction_characters():
    folder = read_folder(upload("x.zip", zipped({"a\u202e\n\x1b[31m.png": PICTURE, "b\u200b.txt": b"words"})))
    assert folder.xrays[0].name == "a[31m.png"
    assert folder.refused[0].name == "b.txt"
