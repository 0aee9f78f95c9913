"""Prediction sets as DICOM Structured Reports (TID 1500, Measurement Report), each referring to its image.

A structured report belongs to the study of its image, so it names the patient as the image does. Nothing else here
does.
"""

import io
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ppsets_core.diagnose.novelty import OUTSIDE
from ppsets_core.diagnose.set_table import Provenance, SetRow, SetTable
from ppsets_core.errors import need
from ppsets_core.method.calibration import Calibration
from ppsets_core.version import __version__
from ppsets_core.wording import NOT_A_DEVICE, describe, scope
from ppsets_core.xrays.picture import PATIENT_AND_STUDY, UIDS

if TYPE_CHECKING:
    from highdicom import sr
    from pydicom.dataset import Dataset
    from pydicom.sr.coding import Code

SEXES = ("M", "F", "O")
SCHEME, MAKER, LONGEST = "99PPSETS", "ppsets", 64
WHO_IS_NAMED = "Each names the patient and the study of its image, as the image itself does."


def has_structured_report(row: SetRow) -> bool:
    """Whether it is a DICOM image with identifiers that looks like a chest X-ray: what is flagged has no set."""
    return bool(_identity(row)) and not row.doubt


def structured_reports(sets: SetTable) -> dict[str, bytes]:
    """A DICOM file for each X-ray that can have one, by a name that tells its place and nothing else. An image whose
    header no report may repeat has none."""
    need("highdicom", "pydicom")
    made, origin = {}, sets.provenance()
    for row in filter(has_structured_report, map(sets.__getitem__, range(len(sets)))):
        try:
            made[f"set-{row.number + 1:04d}.dcm"] = structured_report(row, origin)
        except Exception:  # what highdicom makes of an odd header: one file's must not take the others down
            continue
    return made


def _identity(row: SetRow) -> Mapping[str, str]:
    return {} if row.table.xrays is None else row.table.xrays.identities[row.number]


def zipped(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def structured_report(row: SetRow, origin: Provenance) -> bytes:
    """One file: the set as findings, likeliest first; every probability with its cutoff; how it all came about."""
    from highdicom import UID
    from highdicom.sr import ComprehensiveSR

    from ppsets_core.xrays import dicom  # noqa: F401

    document = ComprehensiveSR(
        evidence=[_image(_identity(row))],
        content=_content(row, origin)[0],
        series_instance_uid=UID(),
        series_number=1,
        sop_instance_uid=UID(),
        instance_number=1,
        manufacturer=MAKER,
        is_complete=True,
        specific_character_set="ISO_IR 192",
    )
    out = io.BytesIO()
    document.save_as(out, enforce_file_format=True)
    return out.getvalue()


def _image(identity: Mapping[str, str]) -> "Dataset":
    """The image as far as a report must repeat it; what DICOM would not let us write again is left empty."""
    from pydicom.config import RAISE
    from pydicom.datadict import dictionary_VR
    from pydicom.dataset import Dataset
    from pydicom.valuerep import DA, TM, validate_value

    image = Dataset()
    image.SpecificCharacterSet = "ISO_IR 192"
    for name in (*UIDS, *PATIENT_AND_STUDY):
        value = identity.get(name, "")
        value = "" if "\\" in value else value  # it would part the value into several
        kind = dictionary_VR(name)
        try:
            validate_value(kind, value, RAISE)
            _ = DA(value) if kind == "DA" else TM(value) if kind == "TM" else None  # a range is a query's, no image's
        except ValueError:
            value = ""
        if name == "PatientSex" and value not in SEXES:
            value = ""
        setattr(image, name, value)
    return image


def _content(row: SetRow, origin: Provenance) -> "sr.MeasurementReport":
    from highdicom import UID, sr
    from pydicom.sr.codedict import codes

    shares, identity = row.shares.tolist(), _identity(row)
    numbers = {_code(f"p{i + 1}", f"Probability of {name}"): shares[i] for i, name in enumerate(row.classes)}
    needed = row.cutoffs.items() if origin.calibration.has_cutoffs else ()
    numbers |= {_code(f"c{i + 1}", f"Probability needed for {name}"): cutoff for i, (name, cutoff) in enumerate(needed)}
    group = sr.MeasurementsAndQualitativeEvaluations(
        tracking_identifier=sr.TrackingIdentifier(UID(), "prediction set"),
        finding_type=_code("set", "Prediction set"),
        algorithm_id=sr.AlgorithmIdentification("ppsets", __version__, parameters=_how(origin), manufacturer=MAKER),
        measurements=[sr.Measurement(name, value, codes.UCUM.NoUnits) for name, value in numbers.items()],
        qualitative_evaluations=[sr.QualitativeEvaluation(name, value) for name, value in _findings(row)],
        source_images=[sr.SourceImageForMeasurementGroup(identity["SOPClassUID"], identity["SOPInstanceUID"])],
    )
    device = sr.DeviceObserverIdentifyingAttributes(
        uid=UID(), name="ppsets", manufacturer_name=MAKER, model_name=f"ppsets {__version__}"
    )
    observer = sr.ObserverContext(codes.DCM.Device, observer_identifying_attributes=device)
    return sr.MeasurementReport(
        observation_context=sr.ObservationContext(observer_device_context=observer),
        procedure_reported=_code("399208008", "Plain X-ray of chest", "SCT"),
        imaging_measurements=[group],
        title=codes.DCM.ImagingMeasurementReport,
    )


def _findings(row: SetRow) -> "list[tuple[Code, Code]]":
    """The diagnoses that remain, likeliest first, or that none does; and whether the image is familiar, where known."""
    member, none = _code("member", "Diagnosis in the prediction set"), _code("none", "No diagnosis is likely enough")
    values = [_code(f"d{row.classes.index(name) + 1}", name) for name in row.members] or [none]
    found = [(member, value) for value in values]
    compared = _code("familiar", "The image, compared with others")
    if row.is_unfamiliar:
        found.append((compared, _code("unfamiliar", OUTSIDE)))
    elif row.is_unfamiliar is not None:
        found.append((compared, _code("familiar", "Familiar")))
    return found


def _how(origin: Provenance) -> list[str]:
    """Settings and limits as text: each a parameter of the algorithm."""
    drawn = origin.calibration
    kind = "a private release" if isinstance(drawn, Calibration) else "a simulation, no private release"
    model = f"Model: {origin.model or 'unknown'}; calibrated for: {drawn.model or 'unknown'}."
    return [f"Calibration: {kind}, {describe(drawn)}.", model, scope(drawn), NOT_A_DEVICE]


def _code(value: str, meaning: str, scheme: str = SCHEME) -> "Code":
    from pydicom.sr.coding import Code

    return Code(value, scheme, meaning[:LONGEST])
