"""A small picture of an X-ray: enough to look at and for the network to look again, a few kilobytes to keep."""

import io

import numpy as np
from PIL import Image

from ppsets_core.xrays import Picture, read_picture
from ppsets_core.xrays.shades import unused_bits

SHORTER, LONGER = 320, 960


def thumbnail_of(picture: Picture) -> bytes:
    """The X-ray as a grey JPEG of at most 320 pixels on the shorter side, as bright as its bits allow."""
    white = 255 * 2 ** unused_bits(picture.grey)
    image = Image.fromarray((picture.grey * white).round().astype(np.uint8))
    scale = min(1.0, SHORTER / min(image.size), LONGER / max(image.size))
    width, height = (max(1, round(side * scale)) for side in image.size)
    out = io.BytesIO()
    image.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0).save(out, "JPEG", quality=88)
    return out.getvalue()


def picture_of(thumbnail: bytes, name: str) -> Picture:
    """The small picture as a Picture again."""
    return read_picture(thumbnail, name)
