"""pegasos.dask with scheduler and workers started by the command line, on two hosts.

The hosts are network namespaces tied together by a cable where this process may make them, else two
addresses of the loopback interface.
"""

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

from pegasos.dask import PegasosClassifier

from .dask_helpers import cut, fit_serially

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs Linux, where 127.0.0.2 is this machine, too"
)

FIT = """
import sys
import dask.array as da
import numpy as np
from distributed import Client
from pegasos.dask import PegasosClassifier

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 6))
    y = X[:, 0] + rng.standard_normal(1000) > 0
    with Client(sys.argv[1], timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
        hosts = {address.split("//")[1].split(":")[0] for address in client.nthreads()}
        data = da.from_array(X, chunks=(250, -1)), da.from_array(y, chunks=250)
        model = PegasosClassifier(0.01, solver="sdca", random_state=0).fit(*data)
        print(*sorted(hosts), model.coef_.tobytes().hex())
"""


def ip(*words):
    subprocess.run(["ip", *words], capture_output=True, check=True)


@contextmanager
def namespaces():
    """Two network namespaces: for each an address, and what to put before a command."""
    names = [f"pegasos-{os.getpid()}-{k}" for k in "ab"]
    ends = [f"peg{os.getpid() % 1_000_000}{k}" for k in "ab"]
    hosts = ["10.213.77.1", "10.213.77.2"]
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for name, end, host in zip(names, ends, hosts, strict=True):
            ip("link", "set", end, "netns", name)
            ip("-n", name, "addr", "add", f"{host}/24", "dev", end)
            ip("-n", name, "link", "set", end, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield [
            (host, ["ip", "netns", "exec", name]) for name, host in zip(names, hosts, strict=True)
        ]
    finally:
        for name in names:  # the cable goes with them
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@pytest.fixture
def two_hosts():
    with ExitStack() as stack:
        try:
            yield stack.enter_context(namespaces())
        except (
            FileNotFoundError,
            subprocess.CalledProcessError,
        ):  # no program ip, or no right to it
            yield [("127.0.0.2", []), ("127.0.0.3", [])]


@contextmanager
def running(commands, folder):
    """Programs that run for a while; what they say goes into files."""
    with ExitStack() as stack:
        processes = []
        for k, command in enumerate(commands):
            log = stack.enter_context((folder / f"{k}.log").open("wb"))
            processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=folder))
        try:
            yield
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                process.wait(60)


def test_two_hosts_give_the_model_of_one_process(two_hosts, tmp_path):
    (first, in_first), (second, in_second) = two_hosts
    address = f"tcp://{first}:18786"
    dask = [sys.executable, "-m", "dask"]
    worker = [*dask, "worker", address, "--nthreads", "1", "--no-dashboard", "--host"]
    commands = [
        [*in_first, *dask, "scheduler", "--host", first, "--port", "18786", "--no-dashboard"],
        [*in_first, *worker, first],
        [*in_second, *worker, second],
    ]
    script = tmp_path / "fit.py"
    script.write_text(FIT)
    with running(commands, tmp_path):
        fit = subprocess.run(
            [*in_first, sys.executable, script, address],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    logs = "".join(log.read_text() for log in sorted(tmp_path.glob("*.log")))
    assert fit.returncode == 0, fit.stderr + logs
    *hosts, coef = fit.stdout.split()
    assert hosts == [first, second]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 6))
    y = X[:, 0] + rng.standard_normal(1000) > 0
    model = PegasosClassifier(0.01, solver="sdca", random_state=0)
    fit_serially(model, cut(X, (250,) * 4), cut(y, (250,) * 4))
    assert bytes.fromhex(coef) == model.coef_.tobytes()
