"""What training measures on held-out X-rays: recognition, and the temperature that makes probabilities honest."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ppsets_core.model.training_set import TrainingSet


def class_weights(data: TrainingSet) -> Tensor:
    """Weights by the inverse root of each class's share: rarer classes count more, without drowning the others."""
    share = torch.bincount(data.labels, minlength=len(data.classes)).clamp(min=1).float() / len(data)
    weights = share.rsqrt()
    return weights / (weights * share).sum()


def accuracy_and_recall(logits: Tensor, labels: Tensor) -> tuple[float, float]:
    """Share recognised, over all X-rays and averaged over the classes that occur; NaN without X-rays."""
    if len(labels) == 0:
        return float("nan"), float("nan")
    right = (logits.argmax(1) == labels).float()
    recalls = [right[labels == label].mean() for label in labels.unique()]
    return right.mean().item(), torch.stack(recalls).mean().item()


def fit_temperature(logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> float:
    """The divisor of the logits, between ¼ and 4, that makes the held-out labels likeliest; 1 without any. `weights`
    say how many X-rays each stands for."""
    if len(labels) == 0:
        return 1.0
    weights = torch.ones(len(labels)) if weights is None else weights

    def loss(temperature: float) -> float:
        return float(weights.double() @ F.cross_entropy(logits.double() / temperature, labels, reduction="none"))

    return min(torch.logspace(-2, 2, 401, base=2, dtype=torch.float64).tolist(), key=loss)
