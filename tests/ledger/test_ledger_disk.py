"""A full disk and files that cannot be written or read: a sentence, and nothing released uncharged."""

import ctypes
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import ppsets_core.method.release as quantile
from ppsets_core import Ledger, LedgerError
from tests.ledger.spending import spend

pytestmark = pytest.mark.faults

SCORES = np.random.default_rng(0).random(500)
PAGE = 4096
VERSION_3, OVERRIDES = 0x20080522, 0b1110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER


@contextmanager
def as_ordinary_user() -> Iterator[None]:
    """While the block lasts, this thread and those it starts may read and write only what a file's mode allows."""
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("Only on Linux can root lay down its power over file permissions.")
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    whole = sets[0]
    sets[0] = whole & ~OVERRIDES
    assert libc.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = whole
        libc.capset(header, sets)


@pytest.fixture
def draws(monkeypatch) -> list:
    """One entry for each threshold drawn."""
    made, draw = [], quantile.draw_release

    def counted(*arguments):
        made.append("drawn")
        return draw(*arguments)

    monkeypatch.setattr(quantile, "draw_release", counted)
    return made


def ledger_in(folder: Path) -> Ledger:
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.open_account("ward", 1000)
    return ledger


def release(ledger: Ledger):
    return spend(ledger, 0.7, SCORES, m=50)


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("A small disk can be mounted only by root.")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path, free_pages: int) -> None:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(PAGE)) == PAGE:
                pass
        except OSError:
            pass
        file.truncate(max(0, filler.stat().st_size - free_pages * PAGE))


def test_disk_full_to_any_degree(small_disk, draws):
    """Nothing is drawn that is not charged, and all that is handed out is on record."""
    ledger, outcomes = ledger_in(small_disk), []
    for number in range(30):
        release(ledger)
        draws.clear()
        before = len(ledger.releases())
        fill(small_disk, free_pages=number % 15)
        try:
            handed = release(ledger) is not None
        except LedgerError:
            handed = False
        (small_disk / "filler").unlink()
        releases = Ledger(small_disk / "ledger.sqlite").releases()
        charged = len(releases) - before
        assert len(draws) <= charged <= 1
        assert handed == (charged == 1 and releases[-1].calibration is not None)
        outcomes.append((handed, charged))
    assert {(False, 0), (True, 1)} <= set(outcomes)
    assert ledger.account("ward").spent == (30 + sum(charged for _, charged in outcomes)) * Decimal("0.7")


def test_no_room_for_the_ledger_itself(small_disk):
    for free_pages in range(20):
        fill(small_disk, free_pages)
        path = small_disk / f"{free_pages}" / "ledger.sqlite"
        try:
            Ledger(path)
        except LedgerError:
            (small_disk / "filler").unlink()
            Ledger(path)
        else:
            (small_disk / "filler").unlink()
        assert Ledger(path).open_account("ward", 1).budget == 1
        shutil.rmtree(path.parent)


def test_disk_full_between_charge_and_record_wastes_the_charge_and_hands_nothing_out(tmp_path, monkeypatch):
    ledger = ledger_in(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    draw = quantile.draw_release

    def drawn_as_the_disk_fills(*arguments):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        return draw(*arguments)

    monkeypatch.setattr(quantile, "draw_release", drawn_as_the_disk_fills)
    try:
        with pytest.raises(LedgerError, match="Nothing was released"):
            release(ledger)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    (wasted,) = ledger.releases()
    assert wasted.calibration is None
    assert ledger.account("ward").spent == Decimal("0.7")


@pytest.mark.parametrize(("name", "mode"), [("ledger.sqlite", 0o400), (".", 0o500)])
def test_a_ledger_that_cannot_be_written_is_readable_but_releases_nothing(tmp_path, draws, name, mode):
    ledger = ledger_in(tmp_path)
    release(ledger)
    draws.clear()
    (tmp_path / name).chmod(mode)
    with as_ordinary_user():
        view = Ledger(tmp_path / "ledger.sqlite")
        assert view.account("ward").spent == Decimal("0.7")
        for change in (
            release,
            lambda view: view.raise_budget("ward", 2000),
            lambda view: view.open_account("other", 1),
        ):
            with pytest.raises(LedgerError, match="that it can be written"):
                change(view)
    tmp_path.chmod(0o700)
    assert draws == []
    assert [(account.name, account.budget) for account in ledger.accounts()] == [("ward", 1000)]


@pytest.mark.parametrize(
    ("name", "mode"), [("ledger.sqlite", 0), ("ledger.sqlite.key", 0), (".", 0), (".", 0o600), ("none yet", 0o500)]
)
def test_a_ledger_that_cannot_be_read_or_made_is_told_and_left_alone(tmp_path, name, mode):
    path = tmp_path / "ledger.sqlite"
    before = () if name == "none yet" else ledger_in(tmp_path).accounts()
    (tmp_path / name.replace("none yet", ".")).chmod(mode)
    with as_ordinary_user():
        for tried in (path, tmp_path / "new" / path.name) if name == "none yet" else (path,):
            with pytest.raises(LedgerError, match="cannot be"):
                Ledger(tried)
    tmp_path.chmod(0o700)
    assert bool(list(tmp_path.iterdir())) == bool(before)
    for each in tmp_path.iterdir():
        each.chmod(0o600)
    assert Ledger(path).accounts() == before
