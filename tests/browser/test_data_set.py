"""A data set of the server on a real cluster: chosen, counted with progress, paid for once, and checked."""

import pytest
from distributed import Client

from tests.browser import driving as ui
from tests.browser.server import serve
from tests.cluster.running import cluster_of
from tests.data.data_sets import records_frame, write_parts

WARD = "ward"


@pytest.fixture(scope="module")
def clustered(tmp_path_factory):
    """The app beside a scheduler and two workers, with a data set in parts."""
    folder = tmp_path_factory.mktemp("clustered")
    with cluster_of(folder, dashboard=True) as cluster:
        cluster.wait_for_workers(2)
        with serve(folder, PPSETS_CLUSTER=cluster.address) as app:
            write_parts(records_frame(12_000, patients=8_000), app.data / WARD, 12, group=500)
            (app.data / "xrays").mkdir()
            yield app, cluster


def open_data_set(page, name: str = WARD) -> None:
    page.get_by_role("combobox", name="Data set below the server's data directory").click()
    page.get_by_role("option", name=name, exact=True).click()
    ui.settle(page)


def test_calibrate_on_a_cluster_with_progress(clustered, page):
    app, cluster = clustered
    page.set_default_timeout(300_000)
    ui.visit(page, app, "calibrate")
    ui.choose(page, "A data set of the server")
    ui.sees(page, "Read on the cluster: 2 workers.")
    link = page.get_by_role("link", name="Dask's dashboard").get_attribute("href")
    with Client(cluster.address, set_as_default=False) as client:
        assert link == client.dashboard_link
    open_data_set(page)
    ui.press(page, "Read this data set")
    ui.sees(page, "Records used")
    used = int(ui.metric(page, "Records used").replace(",", ""))
    assert ui.metric(page, "Records read") == "12,000"
    assert 6_000 < used < 8_000
    ui.press(page, "Calibrate …")
    ui.sees(page, "Spend ε = 1 of the budget of ward?")
    watch_for_text(page, "Pieces counted, nothing is charged yet:")
    ui.button(page, ui.SPEND).press("Enter")
    ui.sees(page, "Your calibration")
    assert page.evaluate("window.wasSeen")
    (release,) = ui.ledger_of(app).releases(WARD)
    assert (release.calibration.n, release.calibration.unit, release.counted_by) == (used, "patient", "patient")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Diagnose").click()
    ui.settle(page)
    page.get_by_text("A table of probabilities", exact=True).click()
    ui.settle(page)
    page.get_by_text("A data set of the server", exact=True).click()
    ui.settle(page)
    open_data_set(page)
    ui.press(page, ui.GET_SETS)
    ui.sees(page, ui.CHECKED)
    assert ui.metric(page, "Patients") == "12,000"
    ui.sees(page, "12,000 with a known diagnosis")


def watch_for_text(page, text: str) -> None:
    """Progress may be over before a look at it: note it whenever it is drawn."""
    page.evaluate(
        """text => {
            const look = () => { window.wasSeen = window.wasSeen || document.body.innerText.includes(text); };
            new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
        }""",
        text,
    )
