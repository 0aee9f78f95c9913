"""pydicom and highdicom quote files, patients' names too, in warnings and logs: with this, they do not."""

import logging
import warnings

from pydicom import config

config.settings.reading_validation_mode = config.IGNORE
logging.getLogger("pydicom").setLevel(logging.CRITICAL)
warnings.filterwarnings("ignore", module=r"(pydicom|highdicom)(\.|$)")
