"""What `streamlit run app.py` serves besides the screens, once its configuration is found in order."""

import asyncio
import gc
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from streamlit import cli_util

from pages.widgets.server.gate import Gate
from pages.widgets.server.login import hosts, login_settings
from pages.widgets.streamlit_parts import drop_expired_sessions, drop_uploads_of_no_widget, keep_uploads_in_memory
from ppsets_core import Ledger, PpsetsError
from ppsets_core.places import CHECK_ONLY, ledger_path
from ppsets_core.progress import give_back
from ppsets_core.server_check import check_private, claim_note, read_provider


def protection() -> list[Middleware]:
    """The gate for the configured addresses; ends the server where it would be open to strangers or of no use."""
    keep_uploads_in_memory()
    faults: list[str] = []
    names: list[str] = []
    for check in (lambda: names.extend(hosts()), _check_provider, _check_ledger):
        try:
            check()
        except PpsetsError as error:
            faults += str(error).splitlines()
    if faults:
        raise SystemExit("\n".join(f"ppsets: {fault}" for fault in dict.fromkeys(faults)))
    if CHECK_ONLY in os.environ:
        print(f"ppsets: ready to start for {', '.join(names)}")
        raise SystemExit(0)
    return [Middleware(Gate, hosts=names, base=st.get_option("server.baseUrlPath"))]


def _check_provider() -> None:
    settings = login_settings()
    if settings is not None and (note := claim_note(read_provider(settings.metadata_url), settings.rules)):
        print(f"ppsets: note: {note}")


def _check_ledger() -> None:
    """Read it all, seals checked; make none. The one user of a machine has a screen that says what is wrong with it."""
    if CHECK_ONLY not in os.environ and login_settings() is None:
        return
    path = ledger_path()
    if path.parent.is_dir() and any(path.parent.iterdir()):
        Ledger(path).snapshot()
        check_private(path.parent, 0o700)
    else:
        print(f"ppsets: note: there is no ledger at {path} yet. If there should be one, stop and find it.")


@asynccontextmanager
async def while_serving(_app: st.App) -> AsyncIterator[None]:
    """Let go of what nobody uses any more; open the first screen where there is a desktop, as Streamlit does."""
    if not st.get_option("server.headless"):
        url = f"http://localhost:{st.get_option('server.port')}"
        asyncio.get_running_loop().run_in_executor(None, cli_util.open_browser, url)
    cleaning = asyncio.create_task(_let_go())
    yield
    cleaning.cancel()


async def _let_go() -> None:
    """By a timer: a session that is silent is never run."""
    while True:
        await asyncio.sleep(max(1, st.get_option("server.disconnectedSessionTTL") / 4))
        if drop_expired_sessions() | drop_uploads_of_no_widget():
            gc.collect()
            give_back()
