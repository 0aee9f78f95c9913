"""Where the network looked (Grad-CAM): the last filters, weighted by how much they speak for a class."""

import numpy as np
import torch
from torch.nn import functional as F

from ppsets_core.errors import InputError
from ppsets_core.model.weights import XrayModel
from ppsets_core.xrays.picture import Picture


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
