"""How fast X-rays become probabilities, as ratios within one run: `python -m benchmarks.network [--files 1000]`.

Wanted on a quiet machine: network ÷ matrix multiplication ≥ 0.75, folder ÷ plain loop ≥ 2, peak memory < 1.5 GB, and
the first answer of a new process within 1.5 times what importing torch and reading the weights take."""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.flop_counter import FlopCounterMode

from ppsets_core.model import XrayModel, load_model, predict_folder
from ppsets_core.model.network import BATCH_SIZE, import_torchvision
from ppsets_core.xrays import read_folder

DISTINCT = 20
COLD = {
    "torch and the weights": """
import torch
from safetensors.torch import load_file
from ppsets_core.model_fingerprint import BUNDLED_WEIGHTS
load_file(BUNDLED_WEIGHTS)""",
    "the first answer": """
import sys
from ppsets_core.model import load_model, predict
from ppsets_core.xrays import read_picture
predict(load_model(), [read_picture(sys.argv[1])])""",
}


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The least of several times: what the machine can do when nobody disturbs it."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


@torch.inference_mode()
def network_over_matmul(model: XrayModel) -> tuple[float, float]:
    """GFLOP/s of the network alone at the batch it is used with, and of a large float32 matrix product."""
    inputs = torch.rand(BATCH_SIZE, 3, model.preprocessing.side, model.preprocessing.side)
    inputs = inputs.contiguous(memory_format=torch.channels_last)
    with FlopCounterMode(display=False) as counter:
        model.network(inputs)
    left, right = torch.rand(2048, 2048), torch.rand(2048, 2048)
    best_seconds(lambda: (model.fast_network(inputs), left @ right), 5)
    network = matmul = float("inf")
    for _ in range(10):
        network = min(network, best_seconds(lambda: model.fast_network(inputs), 5))
        matmul = min(matmul, best_seconds(lambda: left @ right, 3))
    return counter.get_total_flops() / network / 1e9, 2 * 2048**3 / matmul / 1e9


def write_jpegs(folder: Path, count: int) -> None:
    """`count` JPEG files of 1,500 × 1,500 pixels with the detail of an X-ray; a few pictures, each under many names."""
    coarse, fine = np.random.default_rng(0), np.random.default_rng(1)
    for number in range(min(DISTINCT, count)):
        shape = Image.fromarray(coarse.integers(20, 235, (24, 24), dtype=np.uint8)).resize((1500, 1500), Image.BICUBIC)
        grain = fine.normal(0, 6, (1500, 1500))
        pixels = (np.asarray(shape, dtype=np.float32) + grain).clip(0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:05d}.jpg", quality=90)
    for number in range(DISTINCT, count):
        (folder / f"{number:05d}.jpg").write_bytes((folder / f"{number % DISTINCT:05d}.jpg").read_bytes())


@torch.inference_mode()
def plain_loop(model: XrayModel, folder: Path) -> np.ndarray:
    """One file at a time: Pillow, torchvision's transforms, forward."""
    import_torchvision()
    from torchvision import transforms

    view = transforms.Compose(
        [
            transforms.Grayscale(3),
            transforms.Resize((model.preprocessing.side, model.preprocessing.side)),
            transforms.ToTensor(),
            transforms.Normalize(model.preprocessing.mean, model.preprocessing.std),
        ]
    )
    network = model.network.to(memory_format=torch.contiguous_format)
    rows = []
    for path in sorted(folder.iterdir()):
        logits = network(view(Image.open(path))[None])[0].double() / model.temperature
        rows.append(torch.softmax(logits, 0).numpy())
    return np.stack(rows)


def first_answer(folder: Path) -> tuple[float, float]:
    """Seconds of a new process that reads torch and the weights, and of one that answers for one X-ray."""
    xray = str(sorted(folder.iterdir())[0])

    def seconds(code: str) -> float:
        return best_seconds(lambda: subprocess.run([sys.executable, "-c", code, xray], check=True), 3)

    return seconds(COLD["torch and the weights"]), seconds(COLD["the first answer"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    files = parser.parse_args().files
    model = load_model()
    print(f"load before: {os.getloadavg()[0]:.2f}, threads: {torch.get_num_threads()}")
    network, matmul = network_over_matmul(model)
    print(f"network {network:.0f} GFLOP/s, matrix product {matmul:.0f} GFLOP/s, ratio {network / matmul:.2f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_jpegs(folder, files)
        start = time.perf_counter()
        ours = predict_folder(model, read_folder(folder)).probabilities
        fast = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        start = time.perf_counter()
        plain = plain_loop(model, folder)
        slow = time.perf_counter() - start
        least, first = first_answer(folder)
    print(f"{files} JPEG: {fast:.1f} s, plain loop {slow:.1f} s, ratio {slow / fast:.2f}")
    print(f"largest difference between the two in probability {np.abs(ours - plain).max():.3f}")
    print(f"peak memory of reading and predicting: {peak:.2f} GB")
    print(f"torch and the weights {least:.1f} s, the first answer {first:.1f} s, ratio {first / least:.2f}")


if __name__ == "__main__":
    main()
