"""ResNet-18, the paper's network, with one output per class."""

from typing import TYPE_CHECKING

from ppsets_core.model.torchvision_guard import import_torchvision

if TYPE_CHECKING:
    from torchvision.models import ResNet


def build_resnet18(classes: int) -> "ResNet":
    """torchvision's ResNet-18 with random weights (nothing is downloaded) and a last layer for `classes` classes."""
    import_torchvision()
    from torchvision.models import resnet18

    return resnet18(weights=None, num_classes=classes)
