"""Counting a data set where it lies: counts and identities travel; scores and patients never reach the driver."""

from collections.abc import Sequence
from dataclasses import replace
from operator import getitem
from typing import TYPE_CHECKING

import numpy as np

from ppsets_core.cluster.jobs import Progress, added_up, result_of, spread
from ppsets_core.data.counting import Chosen, Counted, Identify, count_rows, counted, tally_task
from ppsets_core.data.data_set import DataSet, RowRange
from ppsets_core.data.one_each import BUCKETS, bucket_of, kept_rows, patient_hashes
from ppsets_core.method.plan import Plan

if TYPE_CHECKING:
    from distributed import Client, Future

Piece = tuple[np.ndarray, np.ndarray]  # hashes, and the rows of the task that they are of


def choose(
    client: "Client", data_set: DataSet, *, all_records: bool = False, progress: Progress | None = None
) -> Chosen:
    """The records to use, as `ppsets_core.data.choose` chooses them; which rows they are stays with the workers.

    All rows of a patient meet in one bucket, over a shuffle of 24 bytes a row.
    """
    described = replace(data_set, tasks=())
    if all_records or not data_set.has_patients:
        rows = data_set.rows
        if rows is None:
            counts = spread(client, count_rows, [(described, task) for task in data_set.tasks])
            rows = int(result_of(client, added_up(client, counts), counts, progress))
        return Chosen(data_set, rows, rows)
    buckets = min(BUCKETS, len(data_set.tasks))
    pieces = spread(client, _pieces, [(described, task, buckets) for task in data_set.tasks])
    kept = spread(client, _kept_in_bucket, [(_column(client, pieces, number),) for number in range(buckets)])
    masks = spread(client, _mask, [(piece, _column(client, kept, number)) for number, piece in enumerate(pieces)])
    sizes = spread(client, _sizes, [(mask,) for mask in masks])
    n, read = result_of(client, added_up(client, sizes), [*pieces, *kept, *masks], progress).tolist()
    return Chosen(data_set, n, read, n, "patient", tuple(masks))


def count(
    client: "Client", records: Chosen, plan: Plan, identify: Identify, *, progress: Progress | None = None
) -> Counted:
    """As `ppsets_core.data.count`, by the workers: each counts some million rows, and the counts are added up."""
    described = replace(records.data_set, tasks=())
    kept: Sequence[np.ndarray | Future | None] = records.kept or [None] * len(records.data_set.tasks)
    tallies = spread(
        client,
        tally_task,
        [(described, task, plan, identify, mask) for task, mask in zip(records.data_set.tasks, kept, strict=True)],
    )
    return counted(records, plan, result_of(client, added_up(client, tallies), tallies, progress))


def _column(client: "Client", rows: Sequence["Future"], number: int) -> list["Future"]:
    """One entry of each result, which alone is sent to whoever needs it."""
    return [client.submit(_entry, row, number, pure=False) for row in rows]


def _entry(results: list, number: int) -> object:
    return results if not isinstance(results, list) else getitem(results, number)


def _pieces(data_set: DataSet, task: Sequence[RowRange], buckets: int) -> list[Piece]:
    hashes = patient_hashes(data_set, task)
    bucket = bucket_of(hashes) % buckets
    rows = [np.flatnonzero(bucket == number) for number in range(buckets)]
    return [(hashes[of], of) for of in rows]


def _kept_in_bucket(pieces: list[Piece]) -> list[np.ndarray]:
    """For each task, those of its rows in this bucket that stay."""
    kept = kept_rows(np.concatenate([hashes for hashes, _ in pieces]))
    ends = np.cumsum([len(rows) for _, rows in pieces])[:-1]
    return [rows[mask] for (_, rows), mask in zip(pieces, np.split(kept, ends), strict=True)]


def _mask(pieces: list[Piece], kept: list[np.ndarray]) -> np.ndarray:
    mask = np.zeros(sum(len(rows) for _, rows in pieces), dtype=bool)
    mask[np.concatenate(kept)] = True
    return mask


def _sizes(mask: np.ndarray) -> np.ndarray:
    return np.array([mask.sum(), len(mask)])
