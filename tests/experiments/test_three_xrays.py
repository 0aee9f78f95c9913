import pytest

from ppsets_core import FileError, Simulation
from ppsets_core.experiments import three_xrays


def test_a_synthetic_xray_of_each_class_gets_a_ranked_set():
    result = three_xrays.run()
    assert [xray.label for xray in result.xrays] == list(result.classes)
    for xray in result.xrays:
        inside = xray.probabilities >= 1 - result.calibration.threshold - 1e-12
        assert set(xray.ranked_set) == set(inside.nonzero()[0])
        ranked = [xray.probabilities[y] for y in xray.ranked_set]
        assert ranked == sorted(ranked, reverse=True)
    assert isinstance(result.calibration, Simulation)
    assert len(three_xrays.figures(result)) == 6
    assert len(three_xrays.findings(result).tables[0].rows) == 3


def test_a_folder_without_xrays_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no picture")
    with pytest.raises(FileError):
        three_xrays.run(xrays=tmp_path)
