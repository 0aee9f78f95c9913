"""Which label and patient each file has: from the rows of a labels file, or from the names of the folders."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from ppsets_core.files.refused import Refused
from ppsets_core.xrays.label_file import LabelRow

SUFFIX = re.compile(r"\.(png|jpe?g|tiff?|dcm|dicom)$")
NOT_A_LABEL = {
    *("train", "test", "val", "valid", "validation", "calibration"),
    *("data", "image", "images", "img", "pictures", "xray", "xrays", "x-ray", "x-rays"),
}


def labels_from_rows(
    names: Sequence[str], unusable: Sequence[str], rows: Iterable[LabelRow], label_file: str
) -> tuple[dict[str, LabelRow], list[Refused]]:
    """Each named file's row, and what is left over: rows without a file, files without a row, contradictions.

    Rows of `unusable` files are passed over: those files have been refused already.
    """
    by_base = defaultdict(list)
    for name in (*names, *unusable):
        base = name.casefold().rsplit("/", 1)[-1]
        by_base[base].append(name)
        if (bare := SUFFIX.sub("", base)) != base:
            by_base[bare].append(name)
    found: dict[str, LabelRow] = {}
    reasons: dict[str, str] = {}
    for row in rows:
        matches = _matches(row, by_base)
        if not matches:
            reasons[row.file] = f"{label_file} lists it, but there is no such file."
        if len(matches) > 1:
            told = f"{label_file} lists '{row.file}', and several files go by that name. Give their folders, too."
            reasons.update(dict.fromkeys(matches, told))
        if len(matches) != 1:
            continue
        name = matches[0]
        if row.problem:
            reasons[name] = row.problem
        elif name in found and (found[name].label, found[name].patient) != (row.label, row.patient):
            reasons[name] = f"{label_file} lists it twice with different labels or patients."
        found[name] = row
    for name in names:
        if name not in found:
            reasons.setdefault(name, f"{label_file} does not list it, so it has no label.")
    for name in unusable:
        reasons.pop(name, None)
    usable = {name: found[name] for name in names if name in found and name not in reasons}
    return usable, [Refused(name, reason) for name, reason in reasons.items()]


def labels_from_folders(names: Sequence[str]) -> dict[str, str | None]:
    """The first folder that tells X-rays apart and is not a split's name: `chest/train/NORMAL/a.png` is NORMAL."""
    folders = {name: name.split("/")[:-1] for name in names}
    while _is_wrapper(list(folders.values())):
        folders = {name: parts[1:] for name, parts in folders.items()}
    labels = {name: [part for part in parts if part.lower() not in NOT_A_LABEL] for name, parts in folders.items()}
    return {name: parts[0] if parts else None for name, parts in labels.items()}


def _is_wrapper(folders: list[list[str]]) -> bool:
    """Whether everything lies in one folder that has folders of its own."""
    return all(folders) and len({parts[0] for parts in folders}) == 1 and any(len(parts) > 1 for parts in folders)


def _matches(row: LabelRow, by_base: dict[str, list[str]]) -> list[str]:
    """Files a row may mean: by whole path, by the path's end, or by bare name where uploading lost the folders."""
    wanted = row.file.casefold()
    namesakes = by_base.get(wanted.rsplit("/", 1)[-1], [])
    exact = [name for name in namesakes if wanted in _spellings(name)]
    ending = exact or [name for name in namesakes if any(s.endswith(f"/{wanted}") for s in _spellings(name))]
    matches = ending or [name for name in namesakes if "/" not in name]
    if len(matches) > 1 and row.folder:
        within = f"/{row.folder}/{wanted}"
        matches = [name for name in matches if any(spelling.endswith(within) for spelling in _spellings(name))]
    return matches


def _spellings(name: str) -> tuple[str, str]:
    """How a labels file may write a name: with the picture's suffix or without."""
    return name.casefold(), SUFFIX.sub("", name.casefold())
