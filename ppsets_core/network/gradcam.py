"""Where the network looked (Grad-CAM): the last filters, weighted by how much they speak for a class."""

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

from ppsets_core.errors import InputError
from ppsets_core.network.weights import XrayModel
from ppsets_core.xrays.picture import Picture

_LARGEST_OVERLAY = 1024


def heat_map(model: XrayModel, picture: Picture, class_index: int) -> np.ndarray:
    """How much each place speaks for the class, in [0, 1], in the picture's shape; 0 on its margins."""
    if not 0 <= class_index < len(model.classes):
        raise InputError(f"There is no class {class_index}: this model has classes 0 to {len(model.classes) - 1}.")
    features = _last_filters(model, picture).requires_grad_()
    pooled = model.network.avgpool(features).flatten(1)
    (slope,) = torch.autograd.grad(model.network.fc(pooled)[0, class_index], features)
    heat = F.relu((features.detach() * slope.mean(dim=(2, 3), keepdim=True)).sum(dim=1, keepdim=True))
    return _into_picture(heat, picture)


@torch.no_grad()
def _last_filters(model: XrayModel, picture: Picture) -> torch.Tensor:
    """The activations after the last convolutional block, 1 × 512 × h × w."""
    net = model.network
    inputs = model.preprocessing.network_input(picture.grey, picture.frame)[None]
    stem = net.maxpool(net.relu(net.bn1(net.conv1(inputs))))
    return net.layer4(net.layer3(net.layer2(net.layer1(stem))))


def _into_picture(heat: torch.Tensor, picture: Picture) -> np.ndarray:
    """The heat, its peak made 1, laid on the frame of the picture, which is what the network sees."""
    whole = np.zeros(picture.grey.shape, dtype=np.float32)
    seen = picture.frame.of(whole)
    spread = F.interpolate(heat, seen.shape, mode="bilinear", align_corners=False)[0, 0]
    seen[:] = (spread / spread.max().clamp(min=1e-12)).numpy()
    return whole


def overlay(picture: Picture, heat: np.ndarray) -> Image.Image:
    """The X-ray with the heat on it, from clear over orange to red; at most 1024 px on the longer side."""
    strength = 0.6 * heat[..., None]
    colour = np.stack([np.ones_like(heat), 0.65 * (1 - heat), np.zeros_like(heat)], axis=-1)
    mixed = picture.grey[..., None] * (1 - strength) + colour * strength
    image = Image.fromarray((mixed.clip(0, 1) * 255).round().astype(np.uint8))
    image.thumbnail((_LARGEST_OVERLAY, _LARGEST_OVERLAY))
    return image
