"""Writes the dozen bundled example X-rays, four per class: `python -m ppsets_core.synthetic.examples assets`."""

import argparse
from pathlib import Path

from ppsets_core.synthetic.drawing import iter_xrays
from ppsets_core.synthetic.folder import write_png

COUNT, SEED = 12, 1


def write_examples(path: Path) -> list[Path]:
    """The first twelve X-rays of seed 1, as `synthetic_01_<class>.png` and so on, in order of drawing."""
    files = []
    for number, xray in enumerate(iter_xrays(COUNT, SEED), start=1):
        files.append(path / f"synthetic_{number:02d}_{xray.label}.png")
        write_png(files[-1], xray, SEED, number)
    return files


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes the dozen bundled synthetic X-rays.")
    parser.add_argument("folder", type=Path)
    for file in write_examples(parser.parse_args().folder):
        print(file)
