"""What a screen says and offers, as AppTest sees it; and waiting for work that a click started."""

import io
import re
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 300  # seconds: fine-tuning in a test takes some ten, and the machine may have other work


def finish(at: AppTest, key: str) -> AppTest:
    """Let the session's work under this name end, and draw the screen with what it found."""
    if key not in at.session_state:
        return at  # it ended within the click's own run
    end = time.monotonic() + LONGEST
    while at.session_state[key].running:
        if time.monotonic() > end:
            pytest.fail(f"The work '{key}' did not end within {LONGEST} seconds.")
        time.sleep(0.02)
    return at.run()


def png(grey: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray((grey * 255).astype(np.uint8)).save(out, "PNG")
    return out.getvalue()


def classify(at: AppTest, files) -> AppTest:
    """Give X-rays to Diagnose, which classifies them at once."""
    at.file_uploader[0].set_value(files).run()
    return finish(at, "diagnose_job")


def viewers(at: AppTest) -> list:
    """The buttons that open the viewer, named as their X-rays."""
    return [each for each in at.button if each.key and each.key.startswith("look-")]


def set_bars(at: AppTest) -> list[str]:
    """The bars of each card, as HTML."""
    return [each.proto.body for each in at.get("html") if 'class="set' in each.proto.body]


def kinds(at: AppTest) -> dict[str, int]:
    """How many sets there are of each kind, by the filter."""
    shown = [option.rsplit(" ", 1) for option in field(at.segmented_control, "diagnose_filter").options]
    return {name: int(number.replace(",", "")) for name, number in shown}


def button(at: AppTest, start: str):
    """The one button whose label starts so."""
    (found,) = [each for each in at.button if each.label.startswith(start)]
    return found


def release(at: AppTest, price: str = "ε") -> AppTest:
    """Open Calibrate's confirm step and confirm it."""
    button(at, "Calibrate …").click().run()
    return button(at, f"Spend {price}").click().run()


def field(elements, start: str):
    """The one text or number field whose key starts so."""
    (found,) = [each for each in elements if each.key and each.key.startswith(start)]
    return found


def records_read(at: AppTest) -> list[str | None]:
    """How many records Calibrate has read, of how many patients, and how many it uses; [] without any."""
    counts = r"\*\*([\d,]+)\*\* records(?: of \*\*([\d,]+)\*\* patients)? · \*\*([\d,]+)\*\* used"
    return [each for one in at.markdown if (found := re.match(counts, one.value)) for each in found.groups()]


def labels(at: AppTest) -> list[str]:
    return [each.label for each in at.button]


def metrics(at: AppTest) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in at.metric:
        found.setdefault(_plain(each.label), []).append(each.value)
    return found


def texts(at: AppTest) -> str:
    """Everything said on the screen, without the escapes that keep names from becoming markup."""
    said = [*at.markdown, *at.caption, *at.error, *at.warning, *at.info, *at.success]
    return _plain("\n".join(each.value for each in said))


def _plain(text: str) -> str:
    return text.replace("\\", "").replace("\u2060", "")
