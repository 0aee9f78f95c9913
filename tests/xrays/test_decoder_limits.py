"""What one file may cost is bounded by what its header says, before it is decoded; labels are found in linear work."""

import io

import numpy as np
import pytest
from PIL import Image

from ppsets_core.errors import FileError
from ppsets_core.xrays import read_picture
from ppsets_core.xrays.label_file import LabelRow
from ppsets_core.xrays.labels import LabelRows
from ppsets_core.xrays.limits import MAX_SCANNED, check_scans
from ppsets_core.xrays.listing import Entry

from .samples import film, tiff


@pytest.mark.parametrize(
    ("scans", "side", "fits"), [(10, 8900, True), (20, 8900, False), (60, 3000, True), (101, 8, False)]
)
def test_scans_times_pixels_are_bounded(scans, side, fits):
    jpeg = b"\xff\xda" * scans
    assert (scans * side * side <= MAX_SCANNED and scans <= 100) == fits
    if fits:
        check_scans(jpeg, side, side)
    else:
        with pytest.raises(FileError, match=f"drawn in {scans} scans"):
            check_scans(jpeg, side, side)


def test_honest_tiles_are_read():
    out = io.BytesIO()
    Image.fromarray(film(300, 280)).save(out, "TIFF", compression="tiff_adobe_deflate", tiffinfo={322: 256, 323: 256})
    assert np.array_equal(read_picture(out.getvalue()).grey, read_picture(tiff(film(300, 280))).grey)


class Counted(dict):
    asked = 0

    def get(self, *key):
        Counted.asked += 1
        return super().get(*key)


def test_a_file_asks_for_its_row_a_few_times_however_many_rows_there_are():
    rows = LabelRows([LabelRow(i, f"{i}.png", "normal") for i in range(5000)], "labels.csv")
    rows._by_path = Counted(rows._by_path)
    files = [Entry(name, bytes, name, "ward") for name in (f"d/{i}.png" for i in range(1000))]
    assert [row.line for row in rows.match(files)] == list(range(1000))
    assert Counted.asked <= 11 * 1000
