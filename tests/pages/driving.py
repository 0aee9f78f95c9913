"""What a screen says and offers, as AppTest sees it."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


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
