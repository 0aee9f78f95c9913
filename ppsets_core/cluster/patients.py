"""Sets and checks of a data set of new patients where it lies: sets are written by the workers, counts travel."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ppsets_core.cluster.jobs import Progress, added_up, result_of, spread
from ppsets_core.data.checked import Checked, all_checked, check_task, tasks_of
from ppsets_core.data.counting import Chosen, Identify
from ppsets_core.data.data_set import DataSet
from ppsets_core.diagnose.patient_parts import SetTally, new_folder, set_parts, tally_task, write_sets_of
from ppsets_core.method.calibration import Drawn

if TYPE_CHECKING:
    from distributed import Client


def predict(
    client: "Client", data_set: DataSet, calibration: Drawn, out: Path, *, progress: Progress | None = None
) -> SetTally:
    """As `write_sets` writes them; parts of a worker that is lost are written by another."""
    with new_folder(out):
        tallies = spread(client, write_sets_of, set_parts(data_set, calibration, out))
        return result_of(client, added_up(client, tallies), tallies, progress)


def tally(client: "Client", data_set: DataSet, calibration: Drawn, *, progress: Progress | None = None) -> SetTally:
    """What is in the sets, which are written nowhere."""
    described = replace(data_set, tasks=())
    tallies = spread(client, tally_task, [(described, task, calibration) for task in data_set.tasks])
    return result_of(client, added_up(client, tallies), tallies, progress)


def check(
    client: "Client",
    of: DataSet | Chosen,
    calibration: Drawn,
    identify: Identify | None = None,
    *,
    progress: Progress | None = None,
) -> Checked:
    """As `check_data_set`; what reaches the driver are counts, and with `identify` who is in them."""
    described = replace(of.data_set if isinstance(of, Chosen) else of, tasks=())
    counts = spread(client, check_task, [(described, task, calibration, identify, kept) for task, kept in tasks_of(of)])
    return all_checked(of, result_of(client, added_up(client, counts), counts, progress))
