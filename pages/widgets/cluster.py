"""The cluster that PPSETS_CLUSTER names, where data sets of the server are read; without it they are read here."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import streamlit as st

from ppsets_core.errors import ClusterError
from ppsets_core.run import IN_PROCESS, Cluster, Executor, Tls, cluster

TLS = ("PPSETS_CLUSTER_CA", "PPSETS_CLUSTER_CERT", "PPSETS_CLUSTER_KEY")


def server_executor() -> Executor:
    """The cluster that all sessions share, else this process. ClusterError where the cluster does not answer."""
    if not (address := os.environ.get("PPSETS_CLUSTER", "").strip()):
        return IN_PROCESS
    files = tuple(os.environ.get(name, "").strip() for name in TLS)
    if any(files) and not all(files):
        raise ClusterError(f"TLS takes all three: {', '.join(TLS)}.")
    found, close = _connected(address, files)
    if found.is_connected:
        return found
    _connected.clear()
    close()
    return _connected(address, files)[0]


@st.cache_resource(max_entries=1, show_spinner="Reaching the cluster …")
def _connected(address: str, files: tuple[str, ...]) -> tuple[Cluster, Callable[[], None]]:
    tls = Tls(*map(Path, files)) if all(files) else None
    stack = ExitStack()
    return stack.enter_context(cluster(address, tls=tls)), stack.close


def show_cluster(executor: Executor) -> None:
    """How many workers there are, and the way to Dask's own dashboard; nothing without a cluster."""
    if not isinstance(executor, Cluster):
        return
    number = executor.workers
    if not number:
        st.warning("The cluster has no workers at the moment. What is started waits a little for one.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Read on the cluster: {number:,} {'worker' if number == 1 else 'workers'}.", width="content")
        if link := executor.dashboard:
            st.link_button("Dask's dashboard", link, icon=":material/monitoring:", type="tertiary")
