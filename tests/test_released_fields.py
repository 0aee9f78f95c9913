"""All that a release says or leaves behind but its thresholds, over random layouts and single changes, by every way in.

Whatever one record says, calibration, export and ledger must read the same: only the drawn numbers may differ."""

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppsets_core import Ledger, Plan, Records, one_per_patient, plan, read_folder, read_scores
from ppsets_core.data.counts import Selection, select
from ppsets_core.data.source import open_source
from ppsets_core.ledger.export import export_csv, export_json
from ppsets_core.method.counts import Countable
from ppsets_core.model import predict_folder
from ppsets_core.model.folder_records import records_of
from tests.model.chests import CLASSES, small_model
from tests.xrays.samples import film, png, upload, zipped

pytestmark = pytest.mark.faults

SITES = ("north", "south")
DRAWN = {"thresholds", "threshold", "novelty_threshold"}
WHEN = {"date", "time", "id", "request", "digest"}  # the digest is keyed, of the cohort's keyed hashes


@dataclass(frozen=True)
class Layout:
    """Which columns a file has, and what is asked of it."""

    seed: int
    patients: bool
    model: bool
    novelty: bool
    all_records: bool
    per: str | None


PER = st.sampled_from([None, "diagnosis", "site"])
LAYOUTS = st.builds(Layout, st.integers(0, 10**6), *[st.booleans()] * 4, PER)


@dataclass(frozen=True)
class Row:
    patient: str
    label: str
    shares: tuple[float, ...]
    site: str
    novelty: float
    film: int


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "patient": st.sampled_from(["", "new", "p1", "P2", "007", "17.0", "=1+1", "José"]),
        "label": st.sampled_from([*CLASSES, "NORMAL"]),
        "shares": st.sampled_from([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.25, 0.25, 0.5), (1 / 3, 1 / 3, 1 / 3)]),
        "site": st.sampled_from([*SITES, "elsewhere", ""]),
        "novelty": st.sampled_from([0.0, 1.0, 0.5]),
        "film": st.just(999),
    },
)


def rows_of(layout: Layout, count: int) -> list[Row]:
    rng = np.random.default_rng(layout.seed)
    names = ["", *(f"p{i}" for i in range(count // 2)), "17", "018"]
    shares, drawn = rng.dirichlet([1, 1, 1], count).tolist(), rng.random(count).tolist()
    picked = zip(rng.choice(names, count), rng.choice(CLASSES, count), rng.choice(SITES, count), strict=True)
    return [
        Row(str(patient), str(label), tuple(shares[number]), str(site), drawn[number], number)
        for number, (patient, label, site) in enumerate(picked)
    ]


def changed(rows: list[Row], index: int, change: dict, layout: Layout) -> list[Row]:
    """One record other than it was. Where one of each patient is used it keeps its patient, as another would be another
    number of patients, which is public; a patient who is replaced is tested in test_neighbours.py."""
    if layout.patients and not layout.all_records:
        change = {name: value for name, value in change.items() if name != "patient"}
    return [replace(row, **change) if number == index % len(rows) else row for number, row in enumerate(rows)]


def columns_of(rows: list[Row], layout: Layout) -> dict[str, list]:
    columns: dict[str, list] = {"label": [row.label for row in rows], "site": [row.site for row in rows]}
    columns |= {name: [row.shares[i] for row in rows] for i, name in enumerate(CLASSES)}
    if layout.patients:
        columns["patient"] = [row.patient for row in rows]
    if layout.model:
        columns["model"] = ["ab" * 8] * len(rows)
    if layout.novelty:
        columns["novelty"] = [row.novelty for row in rows]
    return columns


def planned(records: Countable, layout: Layout) -> Plan:
    share = 0.2 if records.has_novelty else 0.0
    named = {"diagnosis": {"classes": records.classes}, "site": {"groups": SITES}}.get(layout.per, {})
    return plan(len(records), 0.2, 3.0, per=layout.per, novelty_share=share, **named)


def group_of(layout: Layout) -> str | None:
    return "site" if layout.per == "site" else None


def chosen(read: Records, layout: Layout) -> Records:
    return read if layout.all_records else one_per_patient(read)


def by_file(ending: str, write: Callable[[dict[str, list]], bytes]):
    def records(rows: list[Row], layout: Layout, folder: Path) -> Records:
        data = write(columns_of(rows, layout))
        return chosen(read_scores(data, f"ward.{ending}", group=group_of(layout)), layout)

    return records


def delimited(columns: dict[str, list], sign: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sign)
    writer.writerows([list(columns), *zip(*columns.values(), strict=True)])
    return out.getvalue().encode()


def as_json(columns: dict[str, list]) -> bytes:
    return json.dumps([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]).encode()


def as_npz(columns: dict[str, list]) -> bytes:
    out, shares = io.BytesIO(), np.column_stack([columns.pop(name) for name in CLASSES])
    np.savez(out, probabilities=shares, classes=CLASSES, **columns)
    return out.getvalue()


def as_parquet(columns: dict[str, list]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def by_parts(rows: list[Row], layout: Layout, folder: Path) -> Selection:
    """A folder of Parquet parts, as `calibrate` counts it."""
    (folder / "ward").mkdir()
    for number in range(3):
        part = columns_of(rows[number::3], layout)
        (folder / "ward" / f"part-{number}.parquet").write_bytes(as_parquet(part))
    return select(open_source(folder / "ward", group=group_of(layout)), all_records=layout.all_records)


def by_xrays(pack: Callable[[dict[str, bytes], Path], object]):
    def records(rows: list[Row], layout: Layout, folder: Path) -> Records:
        files = {f"{i % 4}/{row.label.lower()}/{i}.png": png(film(seed=row.film)) for i, row in enumerate(rows)}
        if layout.patients:
            table = {"file": list(files), "label": [r.label for r in rows], "patient": [r.patient for r in rows]}
            files["labels.csv"] = delimited(table)
        predicted = predict_folder(MODEL, read_folder(pack(files, folder), classes=CLASSES))
        return chosen(records_of("ward", MODEL, predicted)[0], layout)

    return records


def as_folder(files: dict[str, bytes], folder: Path) -> Path:
    for name, data in files.items():
        (folder / "ward" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "ward" / name).write_bytes(data)
    return folder / "ward"


MODEL = small_model()
FEW = {"parquet": 4, "folder": 6, "zip": 6}  # Parquet is parsed in another process, X-rays by a network
WAYS = {
    "CSV": by_file("csv", delimited),
    "TSV": by_file("tsv", lambda columns: delimited(columns, "\t")),
    "JSON": by_file("json", as_json),
    "NPZ": by_file("npz", as_npz),
    "parts": by_parts,
    "parquet": by_file("parquet", as_parquet),
    "folder": by_xrays(as_folder),
    "zip": by_xrays(lambda files, _: upload("ward.zip", zipped(files))),
}


def left_behind(way, rows: list[Row], layout: Layout) -> str:
    """Everything that a release writes, shows or exports, without what was drawn and when."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        ledger = Ledger(folder / "ledger.sqlite")
        found = way(rows, layout, folder)
        calibration = ledger.release(found, planned(found, layout), ledger.open_account("ward", 1000), reason="audit")
        db = sqlite3.connect(folder / "ledger.sqlite")
        entries = [(kind, json.loads(body)) for kind, body in db.execute("SELECT kind, body FROM entries")]
        db.close()
        for _, body in entries:
            body["text"] = json.loads(body.get("text", "{}"))
        exported = [json.loads(export_json(ledger)), *csv.DictReader(io.StringIO(export_csv(ledger)))]
        told = [json.loads(calibration.to_json()), entries, exported, found.unit, len(found), found.model]
        return json.dumps(without(told), sort_keys=True)


def without(value: object) -> object:
    if isinstance(value, dict):
        return {key: without(one) for key, one in value.items() if key not in DRAWN | WHEN}
    return [without(one) for one in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("way", WAYS)
def test_one_record_changes_nothing_but_what_is_drawn(way):
    @settings(max_examples=FEW.get(way, 12), deadline=None)
    @given(layout=LAYOUTS, index=st.integers(0, 99), change=CHANGES)
    def compare(layout, index, change):
        if way in ("folder", "zip") and layout.per == "site":
            layout = replace(layout, per=None)
        rows = rows_of(layout, 80)
        before, after = (left_behind(WAYS[way], some, layout) for some in (rows, changed(rows, index, change, layout)))
        assert before == after

    compare()


def test_the_comparison_notices_a_field_that_depends_on_a_record():
    """A model column that one record decides, and a column of patients that appears: both must be seen."""
    layout = Layout(1, True, True, False, True, None)
    rows = rows_of(layout, 80)
    for other in (replace(layout, patients=False), replace(layout, model=False)):
        assert left_behind(WAYS["CSV"], rows, layout) != left_behind(WAYS["CSV"], rows, other)
