"""Data sets of the server, read by the app itself: chosen, counted, paid for once, checked; and for whom."""

import pytest

from pages.widgets import choose_files as listing
from pages.widgets import cluster as clusters
from ppsets_core import InputError
from tests.cluster.running import cluster_of
from tests.data.data_sets import records_frame, write_parts
from tests.pages.driving import button, finish, labels, metrics, records_read, release, texts

SOURCE = "A data set of the server"


@pytest.fixture
def data(tmp_path, monkeypatch):
    base = tmp_path / "data"
    base.mkdir()
    monkeypatch.setenv("PPSETS_DATA", str(base))
    return base


@pytest.fixture(params=["here", pytest.param("cluster", marks=pytest.mark.cluster)])
def workers(request, tmp_path, monkeypatch):
    """How many workers there are beside the app, if any."""
    if request.param == "here":
        yield 0
        return
    with cluster_of(tmp_path, dashboard=True) as running:
        running.wait_for_workers(2)
        monkeypatch.setenv("PPSETS_CLUSTER", running.address)
        yield 2
        clusters._connected(running.address, ("", "", ""))[1]()
        clusters._connected.clear()


def read(at, name: str = "ward"):
    at.radio(key="source").set_value(SOURCE).run()
    at.selectbox(key="calibrate_data_set").set_value(name).run()
    button(at, "Read this data set").click().run()
    return finish(at, "read_data_set")


def diagnose(at, name: str) -> None:
    at.switch_page("pages/diagnose.py").run()
    at.segmented_control(key="diagnose_what").set_value("A table of probabilities").run()
    at.segmented_control(key="table_way").set_value(SOURCE).run()
    at.selectbox(key="diagnose_data_set").set_value(name).run()
    button(at, "Get prediction sets").click().run()
    finish(at, "diagnose_data_set_job")


def test_a_data_set_is_read_planned_counted_and_charged_once(workers, screen, data, ledger):
    write_parts(records_frame(900, patients=500), data / "ward", 3)
    at = read(screen("calibrate"))
    assert f"Read on the cluster: {workers} workers." in texts(at) or not workers
    assert [link.label for link in at.get("link_button")] == ["Dask's dashboard"] * bool(workers)
    read_in_all, patients, used = records_read(at)
    assert (read_in_all, patients) == ("900", used)
    release(at)
    finish(at, "prepare_release")
    assert "Your calibration" in texts(at)
    (made,) = ledger.releases("ward")
    assert (f"{made.calibration.n:,}", made.calibration.unit) == (used, "patient")
    diagnose(at, "ward")
    assert metrics(at)["Rows"] == ["900"]
    assert "Did the promise hold?" in texts(at)


def test_whoever_turns_to_other_records_while_it_is_counted_pays_nothing(screen, data, ledger):
    write_parts(records_frame(900), data / "ward", 3)
    at = read(screen("calibrate"))
    release(at)
    at.radio(key="source").set_value("Bundled CoronaHack scores").run()
    assert "prepare_release" not in at.session_state
    at.run()
    assert ledger.releases() == []
    assert "Calibrate …" in labels(at)


def test_a_data_set_without_a_known_label_has_sets_all_the_same(screen, app, data):
    frame = records_frame(300)
    write_parts(frame, data / "my ward_1", 2)
    at = read(screen("calibrate"), "my ward_1")
    release(at)
    finish(at, "prepare_release")
    write_parts(frame.assign(label=""), data / "new", 2)
    diagnose(at, "new")
    assert metrics(at)["Rows"] == ["300"]
    assert "no row has a `label`" in texts(at)
    diagnose(at, "my ward_1")
    assert any("ppsets predict \"$PPSETS_DATA\"/'my ward_1/' --calibration" in one.value for one in at.code)


def test_only_what_lies_below_the_data_directory_is_listed_or_opened(data, tmp_path, monkeypatch):
    for name in ("a/scores", "b", "c/site=1", "c/site=2", "_hidden", ".hidden"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        write_parts(records_frame(20), data / name, 1)
    (data / "xrays" / "deep" / "deeper").mkdir(parents=True)
    (data / "xrays.zip").touch()
    write_parts(records_frame(20), tmp_path / "secret", 1)
    (data / "way-out").symlink_to(tmp_path / "secret")
    assert listing.data_sets() == ["a/scores", "b", "c", "c/site=1", "c/site=2"]
    xrays = [".", "a", "a/scores", "b", "c", "c/site=1", "c/site=2", "xrays", "xrays.zip", "xrays/deep"]
    assert listing.folders_below(data) == xrays
    assert listing.inside(data, "xrays") == data / "xrays"
    for name in ("..", "../secret", str(tmp_path / "secret"), "way-out", "b/../../secret", "missing"):
        with pytest.raises(InputError):
            listing.inside(data, name)
    monkeypatch.setattr(listing, "may", lambda *roles: False)
    assert listing.data_sets() == []


def test_without_data_sets_there_is_no_such_source_and_a_silent_cluster_is_said(screen, data, monkeypatch):
    assert SOURCE not in screen("calibrate").radio(key="source").options
    write_parts(records_frame(60), data / "ward", 1)
    monkeypatch.setenv("PPSETS_CLUSTER", "tcp://192.0.2.1:8786")
    at = screen("calibrate")
    at.radio(key="source").set_value(SOURCE).run()
    assert "is another machine, and tcp:// would send" in texts(at)
