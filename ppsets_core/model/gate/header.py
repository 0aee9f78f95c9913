"""What a DICOM header says against a picture being a frontal chest X-ray."""

import re

from ppsets_core.files.names import shown_name
from ppsets_core.xrays.picture import Header

XRAY_MODALITIES = {"", "CR", "DX", "DR", "RG", "XR", "OT", "SC"}
"""Computed and digital radiography, scanned films, and modalities that say nothing (other, secondary capture)."""
CHEST_PARTS = ("CHEST", "THORAX", "LUNG", "RIB", "TORSO", "TRUNK")
OTHER_PARTS = re.compile(
    "ABDOM|BRAIN|SKULL|HEAD|FACE|FACIAL|ORBIT|SINUS|NASAL|MANDIB|MAXILL|DENTAL|TEETH|NECK|SPINE|SACR|COCCYX|PELVI|BREAST|"
    "KIDNEY|BLADDER|COLON|STOMACH|HUMERUS|ELBOW|FOREARM|WRIST|HAND|FINGER|THUMB|SHOULDER|FEMUR|THIGH|KNEE|TIBIA|FIBULA|"
    r"ANKLE|FOOT|CALCANEUS|EXTREMITY|\b(UPPER|LOWER)? ?(ARM|HIP|JAW|LEG|TOE)S?\b"
)
"""Words for other parts of the body. Any other word says nothing: it may be another language's for the chest."""
SIDE_VIEWS = ("LL", "RL", "LAT")
OBLIQUE_VIEWS = {"LAO", "RAO", "LPO", "RPO", "LLO", "RLO"}
WANTED = "Give a frontal chest X-ray (PA or AP)."


def why_not_by_header(header: Header) -> str:
    """A sentence, empty if the header allows a frontal chest X-ray or says nothing."""
    if header.modality not in XRAY_MODALITIES:
        return f"Its DICOM header says modality {shown_name(header.modality)}, not an X-ray. {WANTED}"
    if OTHER_PARTS.search(header.body_part) and not any(part in header.body_part for part in CHEST_PARTS):
        return f"Its DICOM header says body part {shown_name(header.body_part)}, not the chest. {WANTED}"
    if header.view in OBLIQUE_VIEWS:
        return f"Its DICOM header says an oblique view ({shown_name(header.view)}). {WANTED}"
    if header.view.startswith(SIDE_VIEWS):
        return f"Its DICOM header says a lateral view ({shown_name(header.view)}). {WANTED}"
    return ""
