"""What `streamlit run app.py` serves besides the screens."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from streamlit import cli_util

from pages.widgets.server.gate import Gate
from pages.widgets.server.login import hosts
from pages.widgets.streamlit_parts import drop_expired_sessions, keep_uploads_in_memory
from ppsets_core import InputError
from ppsets_core.background import give_back


def protection() -> list[Middleware]:
    """The gate for the configured addresses; ends the server where they would be open to strangers."""
    keep_uploads_in_memory()
    try:
        return [Middleware(Gate, hosts=hosts(), base=st.get_option("server.baseUrlPath"))]
    except InputError as error:
        raise SystemExit(f"ppsets: {error}") from None


@asynccontextmanager
async def while_serving(_app: st.App) -> AsyncIterator[None]:
    """Let go of sessions without a browser; open the first screen where there is a desktop, as Streamlit does."""
    if not st.get_option("server.headless"):
        url = f"http://localhost:{st.get_option('server.port')}"
        asyncio.get_running_loop().run_in_executor(None, cli_util.open_browser, url)
    cleaning = asyncio.create_task(_let_go_of_sessions())
    yield
    cleaning.cancel()


async def _let_go_of_sessions() -> None:
    while True:
        await asyncio.sleep(max(1, st.get_option("server.disconnectedSessionTTL") / 4))
        if drop_expired_sessions():
            gc.collect()
            give_back()
