"""A server and browser sessions under watch: what is written, what is asked for, and of whom."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.server import App, serve

WATCHED = Path(__file__).parent / "watched"


@contextmanager
def serve_watched(folder: Path) -> Iterator[tuple[App, Path]]:
    """The app with a temporary folder of its own, and the file in which its writes and connections are noted."""
    (folder / "tmp").mkdir()
    notes = folder / "notes.txt"
    environment = {"PYTHONPATH": str(WATCHED), "WATCH_NOTES": str(notes), "PYTHONDONTWRITEBYTECODE": "1"}
    with serve(folder, TMPDIR=str(folder / "tmp"), **environment) as app:
        yield app, notes


def written(notes: Path) -> set[str]:
    return {line.removeprefix("writes ") for line in notes.read_text().splitlines() if line.startswith("writes ")}


def left(notes: Path) -> list[str]:
    return [line for line in notes.read_text().splitlines() if line.startswith("leaves ")]


def record_requests(page) -> list[str]:
    """The address of everything that this browser session asks for from now on, sockets too."""
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url.replace("ws:", "http:", 1)))
    return asked
