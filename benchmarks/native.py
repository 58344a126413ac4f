"""The shipped build against one tuned for this machine alone (-march=native).

    python benchmarks/native.py

Builds the package twice, the second time with PEGASOS_NATIVE=ON, then lets both fit in turn, each
in a process of its own, and prints the ratio of the fastest fits: the goal is at most 1.1.
"""

import json
import os
import site
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROUNDS = 5
CHILD = """
import json, time
import numpy as np, scipy.sparse as sp
from pegasos import PegasosClassifier

rng = np.random.default_rng(0)
dense = rng.random((100_000, 54), dtype=np.float32)
y = dense[:, 0] + dense[:, 1] > 1
sparse = sp.random(50_000, 20_000, 0.004, "csr", np.float32, rng=0)
label = np.asarray(sparse[:, :10_000].sum(axis=1)).ravel() > 20
seconds = {}
for name, X, target in (("dense", dense, y), ("sparse", sparse, label)):
    for solver in ("pegasos", "sdca"):
        model = PegasosClassifier(1e-5, solver=solver, max_iter=4, tol=None, random_state=0)
        times = []
        for _ in range(7):
            start = time.perf_counter()
            model.fit(X, target)
            times.append(time.perf_counter() - start)
        seconds[f"{name} {solver}"] = min(times)
print(json.dumps(seconds))
"""


def build(folder: Path, name: str, cmake_args: str) -> Path:
    """Return a folder with the package compiled with these arguments for CMake."""
    root = Path(__file__).parents[1]
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder / name), str(root)]
    command += [f"--config-settings=build-dir={folder / name / 'build'}"]
    subprocess.run(command, check=True, env={**os.environ, "CMAKE_ARGS": cmake_args})
    with zipfile.ZipFile(next((folder / name).glob("*.whl"))) as wheel:
        wheel.extractall(folder / name / "package")
    return folder / name / "package"


def measure(package: Path) -> dict[str, float]:
    # -S: no .pth files, hence no editable install that would come first.
    paths = [str(package), *site.getsitepackages()]
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {paths}\n{CHILD}"],
        check=True,
        capture_output=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shipped = build(Path(folder), "shipped", "")
        native = build(Path(folder), "native", "-DPEGASOS_NATIVE=ON")
        runs = [(measure(shipped), measure(native)) for _ in range(ROUNDS)]
    print("fit            shipped    native    ratio")
    for name in runs[0][0]:
        ours = min(run[name] for run, _ in runs)
        tuned = min(run[name] for _, run in runs)
        print(f"{name:14} {ours:.4f} s  {tuned:.4f} s  {ours / tuned:.3f}")


if __name__ == "__main__":
    main()
