"""`check`: whether the promise holds on labelled patients, for the curator's eyes, or privately for everyone's."""

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from ppsets_core.commands import say, say_refused
from ppsets_core.commands.files import is_table, open_table, saved_calibration
from ppsets_core.commands.options import add_account, add_cluster, add_json, executor_for, is_wanted, payer, say_budget
from ppsets_core.data import Records
from ppsets_core.data.counts import DescribedRecords, Selection, select
from ppsets_core.data.source import is_data_set
from ppsets_core.errors import InputError
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.method.check import FULL, OWN_VIEW, Check, Line, Promise, check_counts
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.private_check import PrivateCheck
from ppsets_core.progress import ProgressBar
from ppsets_core.run import Executor

HELP = "whether the promise holds on labelled patients: for yourself, or as a private release (--private)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patients", help="a table of probabilities with `label`, a folder of Parquet, or labelled X-rays"
    )
    parser.add_argument("--calibration", required=True, help="JSON that a calibration saved")
    parser.add_argument("--labels", help="of X-rays: CSV with columns file,label[,patient]; else sub-folder names")
    parser.add_argument("--split", help="only the rows whose column `split` says this; training rows are never used")
    parser.add_argument("--group", help="the group that all X-rays are of, if the calibration is per group")
    parser.add_argument("--weights", help="of X-rays: safetensors file; else the bundled model")
    parser.add_argument("--private", action="store_true", help="release noisy counts instead, charged to the budget")
    parser.add_argument("--epsilon", type=float, help="with --private: privacy loss of the release")
    parser.add_argument("--by", choices=(DIAGNOSIS,), help="with --private: count each diagnosis, with twice the noise")
    add_account(parser, "file", only="with --private: ")
    add_json(parser)
    add_cluster(parser)


def run(args: argparse.Namespace) -> int:
    if args.private and args.epsilon is None:
        raise InputError("A private check needs --epsilon, which is charged to the data set's budget.")
    if not args.private and (args.epsilon is not None or args.by or args.budget or args.dataset):
        raise InputError("--epsilon, --by, --dataset and --budget belong to a private check: add --private.")
    calibration = saved_calibration(args.calibration)
    with executor_for(args) as executor:
        if is_wanted(args) or is_data_set(args.patients) or is_table([args.patients]):
            records: DescribedRecords = _selected(args, calibration, executor)
        else:
            records = _xrays(args, calibration)
        if args.private:
            return _release(args, records, calibration)
        counts = records.coverage(calibration)
    if without := counts.read - counts.labelled:
        say(f"{without:,} of {counts.read:,} rows are not checked: of the training part, or without a known label.")
    found = check_counts(counts)
    print(_as_json(found, calibration) if args.json else _in_lines(found))
    return 0


def _selected(args: argparse.Namespace, calibration: BaseCalibration, executor: Executor) -> Selection:
    """The records of a table or a data set to check with, one per patient."""
    source = open_table(args.patients, calibration, args.split)
    calibration.check_fits(source.classes, source.model)
    chosen = Selection(**source.facts(), executor=executor)
    if args.private or source.has_patients:
        chosen = select(source, executor=executor, progress=ProgressBar("Choosing one record per patient"))
    return replace(chosen, progress=ProgressBar("Checking"))


def _xrays(args: argparse.Namespace, calibration: BaseCalibration) -> Records:
    from ppsets_core.model import load_model, predict_folder
    from ppsets_core.model.folder_records import records_of
    from ppsets_core.xrays import read_folder

    model = load_model(args.weights)
    calibration.check_fits(model.classes, model.fingerprint)
    folder = read_folder(args.patients, labels=args.labels, split=args.split, classes=model.classes)
    predicted = predict_folder(model, folder)
    records, unknown = records_of(Path(args.patients).stem, model, predicted)
    say_refused((*predicted.refused, *unknown))
    if calibration.group_names:
        if args.group is None:
            raise InputError(f"Say with --group which {calibration.per} these X-rays are of.")
        records = replace(records, groups={str(calibration.per): np.full(len(records), args.group)})
    return records


def _release(args: argparse.Namespace, records: DescribedRecords, calibration: BaseCalibration) -> int:
    ledger, account = payer(args, Path(args.patients).stem, records)
    how = {"per": args.by, "reason": args.reason, "again": args.again}
    check = ledger.check(records, calibration, account, args.epsilon, **how)
    print(_private_json(check, calibration) if args.json else _private_lines(check, calibration))
    say_budget(ledger, account, args.ledger)
    return 0


def _in_lines(found: Check) -> str:
    parts = {
        "All": (found.overall,),
        "By diagnosis": found.by_diagnosis,
        "By group": found.by_group,
        "By number of diagnoses in the set": tuple(line for line in found.by_size if line.records),
    }
    width = max(len(line.name) for lines in parts.values() for line in lines)
    shown = [found.words, ""]
    for title, lines in parts.items():
        shown += [title, *(f"  {line.name:<{width}}  {_numbers(line)}" for line in lines)] if lines else []
    single = found.single
    shown += ["", f"Of {single.records:,} sets with one diagnosis {single.covered:,} were right.", OWN_VIEW]
    return "\n".join(shown)


def _numbers(line: Line) -> str:
    if not line.records:
        return "nobody"
    return f"{line.covered:,} of {line.records:,} covered, {line.share}  {line.verdict}".rstrip()


def _as_json(found: Check, calibration: BaseCalibration) -> str:
    parts = ("by_diagnosis", "by_group", "by_size")
    document = {
        "private": False,
        "promised": 1 - calibration.alpha,
        "per": calibration.per,
        "verdict": found.verdict,
        "words": found.words,
        "mean_size": found.evaluation.mean_size,
        "overall": _document(found.overall),
        **{part: {line.name: _document(line) for line in getattr(found, part)} for part in parts},
        "sets_of_one": {"records": found.single.records, "right": found.single.covered},
        "note": OWN_VIEW,
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def _document(line: Line) -> dict[str, object]:
    return {
        "covered": line.covered,
        "records": line.records,
        "coverage": line.coverage if line.records else None,
        "interval": list(line.interval),
        "verdict": line.verdict or None,
    }


def _private_lines(check: PrivateCheck, calibration: BaseCalibration) -> str:
    names = ["all together"] if check.per is None else check.classes
    width = max(map(len, names))
    judged = Promise(calibration).judge_private(check)
    lines = [
        f"{name:<{width}}  about {100 * share:.1f}% covered (95% interval {100 * low:.1f}% to {100 * high:.1f}%, "
        f"noise counted)  {verdict}".rstrip()
        for name, share, (low, high), verdict in zip(names, check.shares(), check.intervals(), judged, strict=True)
    ]
    within = f" within each {calibration.per}" if calibration.per else ""
    return "\n".join(
        [
            *lines,
            *([FULL] if calibration.is_full else []),
            f"{100 * (1 - check.alpha):.4g}% promised{within}. ε = {check.epsilon:g} was spent; it protects one "
            f"{check.unit} of {check.n:,}. This may be shown to anyone.",
        ]
    )


def _private_json(check: PrivateCheck, calibration: BaseCalibration) -> str:
    document = json.loads(check.to_json()) | {
        "private": True,
        "shares": [None if math.isnan(share) else share for share in check.shares()],
        "intervals": check.intervals(),
        "verdicts": Promise(calibration).judge_private(check),
    }
    return json.dumps(document, ensure_ascii=False, indent=2)
