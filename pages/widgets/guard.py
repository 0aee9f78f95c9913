"""No traceback ever reaches a reader: what ppsets refuses is shown as its sentence, anything else as one sentence."""

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.widgets.text import as_text
from ppsets_core import PpsetsError

UNEXPECTED = (
    "Something went wrong that was not foreseen. Nothing was charged that the Ledger screen does not show. "
    "Reload the page and try again; if it happens again, please report what you did."
)
_log = logging.getLogger("ppsets")


@contextmanager
def guarded() -> Iterator[None]:
    """Around a screen or a fragment, also as a decorator. The log names the place, never a value: it may be private."""
    try:
        yield
    except PpsetsError as error:
        st.error(as_text(str(error)))
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        _log.error("%s in %s, line %s", type(error).__name__, frame.filename, frame.lineno)
        st.error(UNEXPECTED)
