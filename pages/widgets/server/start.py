"""What `streamlit run app.py` serves besides the screens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from streamlit import cli_util

from pages.widgets.server.gate import Gate
from pages.widgets.server.left_behind import let_go_of_sessions
from pages.widgets.server.listening import hosts
from pages.widgets.uploads import keep_uploads_in_memory
from ppsets_core import InputError


def protection() -> list[Middleware]:
    """The gate for the addresses that are configured; where they would be open to strangers, the server ends here."""
    keep_uploads_in_memory()
    try:
        return [Middleware(Gate, hosts=hosts(), base=st.get_option("server.baseUrlPath"))]
    except InputError as error:
        raise SystemExit(f"ppsets: {error}") from None


@asynccontextmanager
async def while_serving(_app: st.App) -> AsyncIterator[None]:
    """Lets go of sessions that were left behind. Opens the first screen where there is a desktop, as Streamlit does for
    apps without a gate."""
    if not st.get_option("server.headless"):
        url = f"http://localhost:{st.get_option('server.port')}"
        asyncio.get_running_loop().run_in_executor(None, cli_util.open_browser, url)
    cleaning = asyncio.create_task(let_go_of_sessions())
    yield
    cleaning.cancel()
