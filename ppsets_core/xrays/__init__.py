"""Reading X-rays: PNG, JPEG, TIFF and DICOM, one by one or as a labelled folder, zip or upload. Without torch."""

from ppsets_core.files import Refused
from ppsets_core.xrays.folder import Xray, XrayFolder, read_folder
from ppsets_core.xrays.picture import Picture, read_picture

__all__ = ["Picture", "Refused", "Xray", "XrayFolder", "read_folder", "read_picture"]
