import torch

from ppsets_core.model.network import build_resnet18


def test_it_is_torchvisions_resnet18_with_a_last_layer_for_the_classes():
    network = build_resnet18(3)
    from torchvision.models import resnet18

    assert type(network) is type(resnet18(weights=None))
    assert network.fc.out_features == 3
    assert network(torch.zeros(2, 3, 64, 64)).shape == (2, 3)
