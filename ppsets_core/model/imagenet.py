"""The paper's starting point: torchvision's ResNet-18 weights learnt on ImageNet, fetched only when asked for."""

import torch

from ppsets_core.errors import FileError
from ppsets_core.model.preprocess import Preprocessing
from ppsets_core.model.resnet import build_resnet18
from ppsets_core.model.torchvision_guard import import_torchvision
from ppsets_core.model.weights import XrayModel


def imagenet_model() -> XrayModel:
    """torchvision's ImageNet network, to be fine-tuned. Needs the network once; without it, says what else to do."""
    import_torchvision()
    from torchvision.models import ResNet18_Weights

    weights = ResNet18_Weights.IMAGENET1K_V1
    try:
        state = torch.hub.load_state_dict_from_url(weights.url, check_hash=True, progress=False, weights_only=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise FileError(
            "torchvision's ImageNet weights could not be fetched (they need a network connection once). "
            "Start from the bundled weights instead: --from bundled."
        ) from error
    network = build_resnet18(len(weights.meta["categories"]))
    network.load_state_dict(state)
    view = weights.transforms()
    preprocessing = Preprocessing(view.crop_size[0], tuple(view.mean), tuple(view.std))
    return XrayModel(tuple(weights.meta["categories"]), preprocessing, 1.0, network.eval())
