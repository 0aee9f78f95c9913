"""The cluster that PPSETS_CLUSTER names, where data sets of the server are read; without it they are read here."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from ppsets_core import cluster
from ppsets_core.cluster.connection import Tls
from ppsets_core.cluster.jobs import workers_of
from ppsets_core.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client

TLS = ("PPSETS_CLUSTER_CA", "PPSETS_CLUSTER_CERT", "PPSETS_CLUSTER_KEY")


def cluster_client() -> "Client | None":
    """A client that all sessions share; None where no cluster is configured. ClusterError where it does not answer."""
    if not (address := os.environ.get("PPSETS_CLUSTER", "").strip()):
        return None
    files = tuple(os.environ.get(name, "").strip() for name in TLS)
    if any(files) and not all(files):
        raise ClusterError(f"TLS takes all three: {', '.join(TLS)}.")
    client, close = _connected(address, files)
    if client.status == "running":
        return client
    _connected.clear()
    close()
    return _connected(address, files)[0]


@st.cache_resource(max_entries=1, show_spinner="Reaching the cluster …")
def _connected(address: str, files: tuple[str, ...]) -> "tuple[Client, Callable[[], None]]":
    tls = Tls(*map(Path, files)) if all(files) else None
    stack = ExitStack()
    return stack.enter_context(cluster.connected(address, tls=tls)), stack.close


def show_cluster(client: "Client | None") -> None:
    """How many workers there are, and the way to Dask's own dashboard; nothing without a cluster."""
    if client is None:
        return
    number = workers_of(client)
    if not number:
        st.warning("The cluster has no workers at the moment. What is started waits a little for one.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Read on the cluster: {number:,} {'worker' if number == 1 else 'workers'}.", width="content")
        if link := _dashboard(client):
            st.link_button("Dask's dashboard", link, icon=":material/monitoring:", type="tertiary")


def _dashboard(client: "Client") -> str | None:
    info = client.scheduler_info(n_workers=0)
    return client.dashboard_link if "dashboard" in info.get("services", {}) else None
