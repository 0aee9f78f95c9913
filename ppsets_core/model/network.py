"""ResNet-18, what it sees of a picture, and the fused form of it that prediction runs."""

import copy
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.fusion import fuse_conv_bn_eval

from ppsets_core.xrays.frame import Frame, to_model_square

if TYPE_CHECKING:
    from torchvision.models import ResNet

BATCH_SIZE = 16
MIDDLE = (0.47, 0.73)
"""Where the middle grey may lie. Most training X-rays of the bundled network lie within and stay as they are: the
brightness of a lung matters. An export with another gamma is bent until it lies within."""
_NMS_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_COMPILER = "torch._dynamo", "torch._dynamo.utils"


@dataclass(frozen=True)
class Preprocessing:
    """The whole X-ray without its even margins, stretched to `side` × `side`, its greys spread over the whole range,
    then (grey − mean) / std on each channel."""

    side: int = 160
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.25, 0.25, 0.25)

    @property
    def read_at_least(self) -> int:
        """Shorter side below which reading a picture at reduced scale would cost detail."""
        return 2 * self.side

    def network_input(self, grey: np.ndarray, frame: Frame | None = None) -> Tensor:
        """One picture as the network takes it, 3 × side × side. `frame` is `find_frame`'s, if already known."""
        return self.normalise(stretched(grey, self.side, frame))

    def normalise(self, greys: Tensor) -> Tensor:
        """Greys (…, 1, H, W) in [0, 1] as three normalised channels (…, 3, H, W)."""
        mean, std = (torch.tensor(values).view(3, 1, 1) for values in (self.mean, self.std))
        return (greys - mean) / std


def stretched(grey: np.ndarray, side: int, frame: Frame | None = None) -> Tensor:
    """The whole X-ray as greys (1, side, side) in [0, 1]."""
    return torch.from_numpy(to_model_square(grey, side, frame, MIDDLE))[None]


def build_resnet18(classes: int) -> "ResNet":
    """torchvision's ResNet-18 with random weights (nothing is downloaded) and a last layer for `classes` classes."""
    import_torchvision()
    from torchvision.models import resnet18

    return resnet18(weights=None, num_classes=classes)


class MatrixConvolution(nn.Module):
    """A 3 × 3 convolution as one matrix product: on the last stage's few pixels 1.5 times as fast as convolving."""

    def __init__(self, convolution: nn.Conv2d) -> None:
        super().__init__()
        self.stride = convolution.stride[0]
        assert convolution.bias is not None  # a fused convolution has one
        self.bias = convolution.bias
        self.weight = nn.Parameter(convolution.weight.permute(2, 3, 1, 0).flatten(0, 2).contiguous())

    def forward(self, maps: Tensor) -> Tensor:
        padded = F.pad(maps.permute(0, 2, 3, 1), (0, 0, 1, 1, 1, 1))
        windows = padded.unfold(1, 3, self.stride).unfold(2, 3, self.stride).permute(0, 1, 2, 4, 5, 3)
        product = torch.addmm(self.bias, windows.flatten(3).flatten(0, 2), self.weight)
        return product.unflatten(0, windows.shape[:3]).permute(0, 3, 1, 2)


class LogitsAndFeatures(nn.Module):
    """The last layer, returning its inputs as well: novelty is measured on them."""

    def __init__(self, last: nn.Module) -> None:
        super().__init__()
        self.last = last

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        return self.last(features), features


def fused(network: "ResNet") -> "ResNet":
    """An equal ResNet-18 (to about 1e-7) that gives (logits, features): normalisation within the convolutions, matrix
    products in the last stage, the first ReLU after the pooling."""
    network = copy.deepcopy(network).eval()
    network.conv1, network.bn1 = fuse_conv_bn_eval(network.conv1, network.bn1), nn.Identity()
    network.relu, network.maxpool = nn.Identity(), nn.Sequential(network.maxpool, network.relu)
    for stage in (network.layer1, network.layer2, network.layer3, network.layer4):
        for block in stage:
            block.conv1, block.bn1 = fuse_conv_bn_eval(block.conv1, block.bn1), nn.Identity()
            block.conv2, block.bn2 = fuse_conv_bn_eval(block.conv2, block.bn2), nn.Identity()
            if block.downsample is not None:
                block.downsample = fuse_conv_bn_eval(*block.downsample)
    for block in network.layer4:
        block.conv1, block.conv2 = MatrixConvolution(block.conv1), MatrixConvolution(block.conv2)
    network.fc = LogitsAndFeatures(network.fc)
    return network.to(memory_format=torch.channels_last)


def import_torchvision() -> ModuleType:
    """The torchvision package, also where its compiled operators do not load beside this torch build.

    ResNet-18 needs none of them; they are declared first."""
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"]
    with _without_the_compiler():
        return _import_torchvision()


def _import_torchvision() -> ModuleType:
    try:
        return importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    for operator in ("nms", "qnms"):
        torch.library.define(f"torchvision::{operator}", _NMS_SCHEMA)
    return importlib.import_module("torchvision")


@contextmanager
def _without_the_compiler() -> Iterator[None]:
    """Answer for torch's compiler while torchvision loads: one of its operators asks at once whether it can
    compile, and importing the compiler takes longer than importing torch. Afterwards the real one can be imported."""
    if _COMPILER[0] in sys.modules:
        yield
        return
    utils = ModuleType(_COMPILER[1])
    vars(utils)["is_compile_supported"] = lambda device: False
    stand_ins = dict(zip(_COMPILER, (ModuleType(_COMPILER[0]), utils), strict=True))
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
