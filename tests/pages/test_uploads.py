"""Sessions hold only so many uploads, alone and together, and a timer drops what no widget shows."""

import asyncio
from collections import Counter

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from pages.widgets import streamlit_parts as uploads
from pages.widgets.server import start


@pytest.fixture
def manager(monkeypatch) -> MemoryUploadedFileManager:
    """Of the server; nothing was shown or has arrived yet."""
    held = MemoryUploadedFileManager("/upload")
    for name, value in (("_uploads", lambda: held), ("_arrived", {}), ("_shown", {})):
        monkeypatch.setattr(uploads, name, value)
    return held


def add(manager: MemoryUploadedFileManager, session: str, name: str, size: int = 10) -> None:
    manager.add_file(session, UploadedFileRec(name, name, "", bytes(size)))


def test_what_one_session_and_all_together_may_hold(monkeypatch, manager):
    monkeypatch.setattr(uploads, "MOST_MEGABYTES", 0.001)
    monkeypatch.setattr(uploads, "MOST_MEGABYTES_TOGETHER", 0.0015)
    for name in ("a", "b"):
        add(manager, "one", name, 400)
    assert uploads.has_room("one", Counter(one=200))
    assert not uploads.has_room("one", Counter(one=201))
    assert uploads.has_room("two", Counter(two=700))
    assert not uploads.has_room("two", Counter(two=701))
    assert not uploads.has_room("two", Counter(two=400, one=100, three=201)), "what is on its way counts"
    manager.remove_file("one", "a")
    assert uploads.has_room("two", Counter(two=1000))


def screen():
    import streamlit as st

    from pages.widgets.streamlit_parts import note_shown_uploads

    note_shown_uploads()
    if st.toggle("show", True, key="show"):
        st.file_uploader("f", key="f")


def test_a_timer_drops_what_no_widget_shows(monkeypatch, manager):
    at = AppTest.from_function(screen).run()
    at.file_uploader[0].set_value(("a.csv", b"x", "")).run()
    at.run()
    ((session, (file,)),) = uploads._shown.items()
    add(manager, session, file)
    add(manager, session, "never shown")
    add(manager, "silent", "never shown either")
    assert not uploads.drop_uploads_of_no_widget(), "they may be taken up yet"
    monkeypatch.setattr(uploads, "PATIENCE", -1)
    assert uploads.drop_uploads_of_no_widget()
    assert {name: list(files) for name, files in manager.file_storage.items()} == {session: [file], "silent": []}
    at.toggle(key="show").set_value(False).run()
    at.run()
    assert uploads.drop_uploads_of_no_widget()
    assert manager.file_storage[session] == {}
    assert not uploads.drop_uploads_of_no_widget()
    assert uploads._arrived == {}, "and nothing of them is remembered"


def test_the_server_has_the_timer(monkeypatch):
    turns = []

    async def sleep(_: float) -> None:
        if len(turns) == 3:
            raise asyncio.CancelledError

    monkeypatch.setattr(start.asyncio, "sleep", sleep)
    monkeypatch.setattr(start, "drop_uploads_of_no_widget", lambda: turns.append("dropped") or False)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(start._let_go())
    assert turns == ["dropped"] * 3


def test_a_file_is_kept_while_others_still_arrive(monkeypatch, manager):
    for name in ("a", "b"):
        add(manager, "one", name)
    now = uploads.time.monotonic()
    monkeypatch.setattr(uploads, "_arrived", {"a": now - 10_000, "b": now})
    assert not uploads.drop_uploads_of_no_widget()
    monkeypatch.setattr(uploads, "_arrived", {"a": now - 10_000, "b": now - 9_000})
    assert uploads.drop_uploads_of_no_widget()
