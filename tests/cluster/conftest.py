"""One real cluster of a scheduler and two workers for each file of tests that kills nobody."""

import pytest

from ppsets_core import cluster as on_cluster
from tests.cluster.running import cluster_of


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with cluster_of(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def client(running):
    running.wait_for_workers(2)
    with on_cluster.connected(running.address) as client:
        yield client
