"""What a DICOM header says of a picture: how it was made, of what part of the body, from where, and of whom."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

UIDS = ("SOPClassUID", "SOPInstanceUID", "StudyInstanceUID", "SeriesInstanceUID")
PATIENT_AND_STUDY = (
    *("PatientID", "PatientName", "PatientBirthDate", "PatientSex"),
    *("AccessionNumber", "StudyID", "StudyDate", "StudyTime", "ReferringPhysicianName"),
)
NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Header:
    """DICOM's Modality, BodyPartExamined and ViewPosition, in capitals; empty where nothing is said.

    `identity`: what a structured report must repeat of its image, by DICOM keyword; empty where the image cannot be
    referred to. It names a patient: it is for that report only, and is never shown.
    """

    modality: str = ""
    body_part: str = ""
    view: str = ""
    identity: Mapping[str, str] = field(default_factory=lambda: NOBODY, repr=False)


NOTHING_SAID = Header()
