"""Zips that mean harm, on Diagnose and Calibrate, beside good X-rays: named with the reason, and the rest goes on."""

import zipfile

import pytest

from ppsets_core.errors import FileError
from ppsets_core.xrays import read_folder
from tests.attacks.archives import FLAGS, LINK, archive, crowd, member, nested, patched
from tests.attacks.conftest import answered, left_out
from tests.drawn_xrays import draw_xrays
from tests.pages.driving import texts
from tests.xrays.samples import film, png, upload, zipped

PICTURE = png(film())
GOOD = member("good.png", PICTURE)


def bad_members() -> dict[str, tuple[tuple[zipfile.ZipInfo, bytes], str]]:
    return {
        "../../climb.png": (member("../../climb.png", PICTURE), "out of the zip"),
        "a/../../b.png": (member("a/../../b.png", PICTURE), "out of the zip"),
        "..\\back.png": (member("..\\back.png", PICTURE), "out of the zip"),
        "/root.png": (member("/root.png", PICTURE), "out of the zip"),
        "C:\\drive.png": (member("C:\\drive.png", PICTURE), "out of the zip"),
        "link.png": (member("link.png", b"/etc/passwd", external_attr=LINK), "link"),
        "lzma.png": (member("lzma.png", PICTURE, compress_type=zipfile.ZIP_LZMA), "rare way"),
        "bzip.png": (member("bzip.png", PICTURE, compress_type=zipfile.ZIP_BZIP2), "rare way"),
        "bomb.png": (member("bomb.png", PICTURE + bytes(20_000_000)), "200 times"),
        "inner.zip": (member("inner.zip", zipped({"a.png": PICTURE})), "ZIP archive"),
        "empty.png": (member("empty.png", b""), "empty"),
        "notes.txt": (member("notes.txt", b"to do"), "text"),
    }


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_bad_zips_and_members_on_diagnose(diagnosed):
    """One screen, every zip at once, beside two synthetic X-rays."""
    members = bad_members()
    locked = patched(archive(GOOD, member("liar.png", PICTURE)), b"liar.png", FLAGS, b"\1\0")
    xrays = {f"{i}.png": png(xray.pixels) for i, xray in enumerate(draw_xrays(2, 0))}
    at = diagnosed(
        {
            "members.zip": archive(GOOD, *(bad for bad, _ in members.values())),
            "nested.zip": nested(PICTURE, 3),
            "locked.zip": locked,
            "huge.zip": patched(archive(member("huge.png", PICTURE)), b"huge.png", 24, b"\xff\xff\xff\x7f"),
            "crowd.zip": crowd(100_001),
            "cut.zip": archive(GOOD)[:60],
            "twice.zip": archive(GOOD, GOOD),
            **xrays,
        }
    )
    assert not at.error
    assert answered(at) == ["members/good.png", "locked/good.png", "0.png", "1.png"]
    reasons = left_out(at)
    for name, (_, said) in members.items():
        assert said in reasons.pop(f"members/{name}".replace("\\", "/"))
    assert "ZIP archive" in reasons.pop("nested/inner.zip")
    assert "password" in reasons.pop("locked/liar.png")
    assert "100 MB" in reasons.pop("huge/huge.png")
    assert "more than 100,000 files" in reasons.pop("crowd.zip")
    assert "cut off" in reasons.pop("cut.zip")
    assert "holds good.png twice" in reasons.pop("twice.zip")
    assert reasons == {}


def test_a_bad_zip_alone_is_one_sentence_on_calibrate(screen):
    at = screen("calibrate")
    at.radio(key="source").set_value("X-rays with labels").run()
    for name, data, said in [
        ("crowd.zip", crowd(100_001), "crowd.zip: more than 100,000 files"),
        ("cut.zip", archive(GOOD)[:60], "cut.zip: the zip is cut off"),
        ("nested.zip", nested(PICTURE, 2), "no usable X-ray in nested.zip"),
    ]:
        at.file_uploader[0].set_value([(name, data, "application/zip")]).run()
        assert not at.exception
        assert said in texts(at)
    good = zipped({"normal/a.png": PICTURE, "viral-pneumonia/b.png": PICTURE, "../c.png": PICTURE})
    at.file_uploader[0].set_value([("good.zip", good, "application/zip")]).run()
    assert "2 X-rays found" in texts(at)
    assert "out of the zip" in left_out(at)["../c.png"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        (FLAGS, b"\x01\0", "password"),
        (16, b"\0\0\0\0", "damaged"),
        (24, (500).to_bytes(4, "little"), "damaged"),
        (42, (12).to_bytes(4, "little"), "damaged"),
    ],
    ids=["encrypted", "wrong checksum", "wrong size", "wrong place"],
)
def test_a_member_that_does_not_keep_its_word_is_refused(field, value, said):
    data = patched(zipped({"good.png": PICTURE, "liar.png": png(film(seed=3))}), b"liar.png", field, value)
    folder = read_folder(upload("x.zip", data))
    refused = list(folder.refused)
    assert [xray.name for xray, _ in folder.readable(refused)] == ["good.png"]
    assert [item.name for item in refused] == ["liar.png"]
    assert said in refused[0].reason


MANY = zipped({f"{i}.png": PICTURE for i in range(9)})


@pytest.mark.parametrize(
    ("bound", "most", "zips", "said"),
    [
        ("MAX_DIRECTORY_BYTES", 50_000, [crowd(2000)], "table of contents"),
        ("MAX_TOTAL_BYTES", 5_000, [MANY], "Split it"),
        ("MAX_FILES", 15, [MANY, MANY], "more than 15 files"),
    ],
)
def test_zips_are_refused_before_they_take_too_much(monkeypatch, bound, most, zips, said):
    monkeypatch.setattr(f"ppsets_core.xrays.listing.{bound}", most)
    with pytest.raises(FileError, match=said):
        read_folder([upload(f"{i}.zip", data) for i, data in enumerate(zips)])


def test_a_member_without_a_name_is_read_as_one():
    """Found by fuzzing: zipfile itself fails on it."""
    data = zipped({"a.png": PICTURE, "b.png": PICTURE})
    at = data.rindex(b"a.png")
    data = patched(data, b"a.png", 28, b"\0\0")
    data = data[:at] + data[at + 5 :]
    end = data.rindex(b"PK\5\6")
    size = int.from_bytes(data[end + 12 : end + 16], "little") - 5
    data = data[: end + 12] + size.to_bytes(4, "little") + data[end + 16 :]
    folder = read_folder(upload("x.zip", data))
    assert "b.png" in [xray.name for xray in folder.xrays]
