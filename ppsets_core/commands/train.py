"""`train`: fit the last layer of a ResNet-18 to labelled X-rays, without privacy or with DP-SGD."""

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ppsets_core.commands import say, say_refused
from ppsets_core.commands.files import check_new
from ppsets_core.commands.options import add_account, add_json, add_labels, names_in, payer
from ppsets_core.errors import InputError
from ppsets_core.ledger.training import TrainingPayment
from ppsets_core.progress import ProgressBar
from ppsets_core.wording import PRIVATE_TRAINING

if TYPE_CHECKING:
    from ppsets_core.model.report import Epoch
    from ppsets_core.model.train import LastLayerRecipe
    from ppsets_core.model.weights import XrayModel

HELP = "train the last layer of a ResNet-18 on labelled X-rays, also with DP-SGD"
DP_OPTIONS = ("dp_delta", "clip", "dataset", "budget")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", help="directory or zip of labelled X-rays")
    add_labels(parser)
    parser.add_argument("--out", required=True, help="safetensors file to write")
    parser.add_argument("--from", dest="start", default="bundled", help="bundled (default) or a safetensors file")
    default = "default: the labels that occur; with --dp-epsilon, the starting weights' classes"
    parser.add_argument("--classes", help=f"classes to learn, separated by commas ({default})")
    parser.add_argument("--epochs", type=int, help="default 30")
    parser.add_argument("--batch-size", type=int, help="X-rays in a step, default 64")
    parser.add_argument("--learning-rate", type=float, help="default 0.005")
    parser.add_argument("--seed", type=int, help="default 0; refused with --dp-epsilon, whose noise nobody may repeat")
    parser.add_argument("--dp-epsilon", type=float, help="train the last layer with this ε of differential privacy")
    parser.add_argument("--dp-delta", type=float, help="δ, below 1 / number of X-rays; default a tenth of that")
    add_account(parser, "folder", only="with --dp-epsilon: ", again=False)
    parser.add_argument("--clip", type=float, help="norm to which each X-ray's gradient is clipped, default 1")
    add_json(parser, "print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Train, show each epoch on stderr, write the weights."""
    _check(args)
    from ppsets_core.model.train import LastLayerRecipe, Privacy, fine_tune_last_layer
    from ppsets_core.model.training_set import read_training_set
    from ppsets_core.model.weights import load_model, save_model
    from ppsets_core.xrays import read_folder

    base = load_model(None if args.start == "bundled" else args.start)
    classes = _classes(args, base)
    folder = read_folder(args.data, labels=args.labels, split=args.split, classes=classes or (), to_learn=True)
    side, total = base.preprocessing.side, len(folder.xrays)
    reading = ProgressBar("Reading X-rays")
    data, refused = read_training_set(folder, side, classes=classes, progress=lambda done: reading(done, total))
    say_refused(refused)
    say(f"{len(data)} X-rays of {len(data.classes)} classes: {', '.join(data.classes)}")
    privacy, payment = None, None
    if args.dp_epsilon is not None:
        say(PRIVATE_TRAINING)
        privacy = Privacy(args.dp_epsilon, args.dp_delta or 0.1 / len(data), args.clip or 1.0)
        charged = payer(args, Path(args.data).resolve().stem, data)
        payment = TrainingPayment(*charged, privacy.epsilon, privacy.delta, reason=args.reason)
    charge = payment.charge if payment else None
    recipe = _recipe(LastLayerRecipe(), args)
    tuned = fine_tune_last_layer(base, data, recipe, privacy=privacy, classes=classes, watch=_show, charge=charge)
    save_model(tuned.model, args.out)
    if payment:
        payment.keep(tuned.model.fingerprint)
    result = {
        "out": args.out,
        "xrays": len(data),
        "classes": data.classes,
        "held_out_accuracy": None if math.isnan(tuned.accuracy) else tuned.accuracy,
        "temperature": tuned.model.temperature,
    }
    if privacy:
        result |= {"epsilon_spent": tuned.epsilon, "delta": privacy.delta}
    lines = (f"{name}: {'unknown' if value is None else value}" for name, value in result.items())
    print(json.dumps(result) if args.json else "\n".join(lines))
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse, before any work, options that do not go together."""
    check_new(Path(args.out))
    if args.dp_epsilon is None and any(getattr(args, name) is not None for name in DP_OPTIONS):
        raise InputError("--dp-delta, --clip, --dataset and --budget belong to --dp-epsilon.")
    if args.dp_epsilon is not None and args.seed is not None:
        raise InputError("A seed would let anyone repeat the noise and undo the privacy. Leave --seed out.")


def _classes(args: argparse.Namespace, base: "XrayModel") -> tuple[str, ...] | None:
    """The classes named; without any, the starting weights' if the training is private, else None."""
    if args.classes is not None:
        return names_in(args.classes)
    return base.classes if args.dp_epsilon is not None else None


def _recipe(recipe: "LastLayerRecipe", args: argparse.Namespace) -> "LastLayerRecipe":
    """The recipe with what the command line changes."""
    given = {name: getattr(args, name) for name in ("epochs", "batch_size", "learning_rate", "seed")}
    return replace(recipe, **{name: value for name, value in given.items() if value is not None})


def _show(epoch: "Epoch") -> None:
    held_out = f"  held out: accuracy {epoch.accuracy:.3f}, macro recall {epoch.macro_recall:.3f}"
    shares = "" if math.isnan(epoch.accuracy) else held_out
    say(f"epoch {epoch.epoch}/{epoch.epochs}  loss {epoch.loss:.4f}{shares}")
