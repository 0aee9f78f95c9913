"""Every executor but this process: worker processes, and a real Dask cluster of a scheduler and two workers."""

import pytest

from ppsets_core.run import cluster, processes
from tests.cluster.running import cluster_of


@pytest.fixture(scope="module")
def workers():
    with processes(2) as executor:
        yield executor


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    with cluster_of(tmp_path_factory.mktemp("cluster")) as running:
        running.wait_for_workers(2)
        with cluster(running.address) as executor:
            yield executor


@pytest.fixture(params=["workers", "dask"])
def executor(request):
    return request.getfixturevalue(request.param)
