"""What a DICOM header says of a picture: how it was made, of what part of the body, and from where."""

from typing import NamedTuple


class Header(NamedTuple):
    """DICOM's Modality, BodyPartExamined and ViewPosition, in capitals; empty where nothing is said."""

    modality: str = ""
    body_part: str = ""
    view: str = ""


NOTHING_SAID = Header()
