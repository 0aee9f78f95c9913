"""Fine-tuning as work for a thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pages.widgets.active_model import model_name
from pages.widgets.model.settings import Settings
from ppsets_core.background import JobProgress
from ppsets_core.errors import LedgerError
from ppsets_core.ledger.training import TrainingPayment
from ppsets_core.model.recipe import Epoch
from ppsets_core.xrays import Refused
from ppsets_core.xrays.labels import Labels
from ppsets_core.xrays.listing import Source

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel
    from ppsets_core.model.dp_sgd import Privacy
    from ppsets_core.model.last_layer import FineTuned
    from ppsets_core.model.training_set import TrainingSet


@dataclass(frozen=True, eq=False)
class Tuned:
    """A fine-tuned model and how it came about."""

    result: "FineTuned"
    privacy: "Privacy | None"
    epochs: tuple[Epoch, ...]
    xrays: int
    refused: tuple[Refused, ...]
    base: str
    payer: str | None


def fine_tuning(
    base: "XrayModel",
    source: Source,
    labels: Labels,
    settings: Settings,
    payment: TrainingPayment | None,
) -> Callable[[JobProgress], Tuned]:
    """Read the X-rays and train, reporting each epoch. Cancelled, nothing is kept.

    Private training needs a payment, which is charged before it begins."""
    name = model_name()
    if (settings.privacy is None) != (payment is None):
        raise LedgerError("Private training, and it alone, is paid for. Nothing was trained.")

    def work(report: JobProgress) -> Tuned:
        from ppsets_core.model.dp_sgd import Privacy
        from ppsets_core.model.last_layer import LastLayerRecipe, fine_tune_last_layer

        privacy, classes = None, None
        if (wanted := settings.privacy) is not None:
            privacy = Privacy(wanted.epsilon, wanted.delta, wanted.clip)
            classes = wanted.classes or base.classes
        data, refused = _read(source, labels, base.preprocessing.side, classes, report)
        report.stage = "X-rays seen by the network:"
        report(0, len(data))

        def watch(epoch: Epoch) -> None:
            report.stage = "Epochs:"
            report.said.append(epoch)
            report(epoch.epoch, epoch.epochs)

        def charge(patients: Sequence[str]) -> None:
            report.check()
            assert payment is not None
            payment.charge(patients)

        recipe = LastLayerRecipe(settings.epochs, settings.batch_size, settings.learning_rate)
        result = fine_tune_last_layer(
            *(base, data, recipe),
            privacy=privacy,
            classes=classes,
            watch=watch,
            progress=lambda done: report(done, len(data)),
            charge=None if payment is None else charge,
        )
        payer = None
        if payment is not None:
            payment.keep(result.model.fingerprint)
            payer = payment.payer
        return Tuned(result, privacy, tuple(report.said), len(data), refused, name, payer)

    return work


def _read(
    source: Source, labels: Labels, side: int, classes: tuple[str, ...] | None, report: JobProgress
) -> tuple["TrainingSet", tuple[Refused, ...]]:
    from ppsets_core.model.training_set import read_training_set
    from ppsets_core.xrays import read_folder

    report.stage = "X-rays read:"
    folder = read_folder(source, labels=labels, classes=classes or (), to_learn=True)
    total = len(folder.xrays)
    return read_training_set(folder, side, classes=classes, progress=lambda done: report(done, total))
