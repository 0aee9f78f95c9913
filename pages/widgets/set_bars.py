"""An X-ray and its ranked set as HTML: the picture, and a bar for each diagnosis with its cutoff."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape

import numpy as np

MOST, NEAR = 8, 0.01
LEGEND = "Bold: in the set. Orange: the cutoff."
STYLE = """<style>
.xray { display: block; width: 100%; height: 11rem; object-fit: contain; background: #000; border-radius: .4rem }
.set { font-size: .875rem; line-height: 1.35 }
.set p { display: flex; justify-content: space-between; gap: .5rem; margin: 0 }
.set .in { font-weight: 600 }
.set .track { position: relative; height: .5rem; border-radius: .25rem; background: #8080804d; margin: .1rem 0 .45rem }
.set .fill { height: 100%; border-radius: .25rem; background: #8080809c }
.set .in + .track .fill { background: #0072B2 }
.set.muted .in + .track .fill { background: #808080 }
.set .cutoff { position: absolute; top: -.15rem; bottom: -.15rem; width: 3px; margin-left: -1px; background: #D55E00 }
</style>"""


def picture(jpeg: bytes, alt: str) -> str:
    """The X-ray within the page itself: it has no address for others to ask for."""
    return f'<img class="xray" alt="{escape(alt)}" src="data:image/jpeg;base64,{b64encode(jpeg).decode("ascii")}">'


def set_bars(classes: Sequence[str], shares: np.ndarray, cutoffs: Sequence[float], *, muted: bool = False) -> str:
    """Likeliest diagnoses first; those that reach their cutoff are in the set, bold and blue.

    cutoffs: one for each class; where they differ, each bar says its own.
    muted: all grey, for a set not to be relied on.
    """
    lines, spoken, same = [], [], len(set(cutoffs)) == 1
    for i in np.argsort(-shares, kind="stable")[:MOST]:
        inside, needed = shares[i] >= cutoffs[i], f"{cutoffs[i]:.3g}"
        share = f"{shares[i]:.{3 if abs(shares[i] - cutoffs[i]) < NEAR else 2}f}"
        spoken.append(f"{classes[i]} {share}, {'in' if inside else 'not in'} the set, cutoff {needed}")
        lines.append(
            f'<p class="{"in" if inside else "out"}"><span>{escape(classes[i])}</span>'
            f"<span>{share}{'' if same else f' · needs {needed}'}</span></p>"
            f'<div class="track"><div class="fill" style="width: {100 * shares[i]:.1f}%"></div>'
            f'<div class="cutoff" style="left: {100 * min(cutoffs[i], 1):.1f}%"></div></div>'
        )
    look = "set muted" if muted else "set"
    return f'<div class="{look}" role="img" aria-label="{escape("; ".join(spoken))}">{"".join(lines)}</div>'
