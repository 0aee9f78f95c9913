"""A session holds only so many uploads, and none that no widget shows."""

from types import SimpleNamespace

import pytest
from starlette.exceptions import HTTPException
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from pages.widgets import streamlit_parts as uploads


def record(name: str, size: int = 10) -> UploadedFileRec:
    return UploadedFileRec(name, name, "", bytes(size))


def test_a_session_that_would_hold_too_much_is_refused_and_others_are_not(monkeypatch):
    monkeypatch.setattr(uploads, "MOST_MEGABYTES", 0.001)
    manager = MemoryUploadedFileManager("/upload")
    for name in ("a", "b"):
        uploads._add_bounded(manager, "one", record(name, 400))
    with pytest.raises(HTTPException) as refused:
        uploads._add_bounded(manager, "one", record("c", 400))
    assert refused.value.status_code == 413
    uploads._add_bounded(manager, "two", record("c", 400))
    manager.remove_file("one", "a")
    uploads._add_bounded(manager, "one", record("c", 400))


def screen():
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from pages.widgets.streamlit_parts import drop_uploads_of_no_widget

    drop_uploads_of_no_widget()
    if st.toggle("show", True, key="show"):
        st.file_uploader("f", key="f")
    context = get_script_run_ctx()
    held = context.uploaded_file_mgr.file_storage.get(context.session_id, {})
    st.write(" ".join(sorted(file.name for file in held.values())) or "nothing")


def test_what_no_widget_shows_is_let_go_after_a_while(monkeypatch):
    at = AppTest.from_function(screen).run()
    at.file_uploader[0].set_value(("a.csv", b"x", "")).run()
    assert at.run().markdown[-1].value == "a.csv"
    monkeypatch.setattr(uploads, "PATIENCE", -1)
    assert at.run().markdown[-1].value == "a.csv"
    at.toggle(key="show").set_value(False).run()
    assert at.run().markdown[-1].value == "nothing"


def test_a_file_is_kept_while_others_still_arrive(monkeypatch):
    manager = MemoryUploadedFileManager("/upload")
    context = SimpleNamespace(uploaded_file_mgr=manager, session_id="one")
    monkeypatch.setattr(uploads, "get_script_run_ctx", lambda: context)
    for name in ("a", "b"):
        uploads._add_bounded(manager, "one", record(name))
    now = uploads.time.monotonic()
    monkeypatch.setattr(uploads, "_arrived", {"a": now - 10_000, "b": now})
    uploads.drop_uploads_of_no_widget()
    assert set(manager.file_storage["one"]) == {"a", "b"}
    monkeypatch.setattr(uploads, "_arrived", {"a": now - 10_000, "b": now - 9_000})
    uploads.drop_uploads_of_no_widget()
    assert not manager.file_storage.get("one")
