"""What is particular to the CoronaHack data set: its metadata file, and patients in its file names."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

NAME, LABEL, CAUSE, FOLDER = "X_ray_image_name", "Label", "Label_1_Virus_category", "Dataset_type"
COLUMNS = (NAME, LABEL, CAUSE)
CAUSES = {"bacteria": "bacterial-pneumonia", "virus": "viral-pneumonia"}

PATIENT = re.compile(r"person\d+(?=_)|(NORMAL2-)?IM-\d+(?=-)")
SAME_PATIENT = re.compile(r"(-day\d+|(-l)?-[a-d])$")


def label_of(row: Mapping[str, str]) -> str | None:
    """The class, or None for the few pneumonias of another cause, which the paper leaves out."""
    if row[LABEL].strip().lower() == "normal":
        return "normal"
    return CAUSES.get(row[CAUSE].strip().lower())


def patient_of(file_name: str) -> str:
    """The patient that CoronaHack's file names tell; the panels and days of one published figure are one patient.

    >>> [patient_of(name) for name in ("person12_virus_34.jpeg", "NORMAL2-IM-0395-0001.jpeg", "kjr-21-g001-l-a.jpg")]
    ['person12', 'NORMAL2-IM-0395', 'kjr-21-g001']
    """
    stem = PurePosixPath(file_name).stem
    return found[0] if (found := PATIENT.match(stem)) else SAME_PATIENT.sub("", stem)
