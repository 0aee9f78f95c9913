"""The network as prediction runs it: frozen TorchScript with folded normalisation, in the memory order CPUs like."""

import warnings

import torch
from torch import nn

BATCH_SIZE = 16


def optimise(network: nn.Module, crop: int) -> torch.jit.ScriptModule:
    """The network frozen for inference; faster than the plain one on a CPU, equal to about 1e-6."""
    example = torch.zeros(BATCH_SIZE, 3, crop, crop).contiguous(memory_format=torch.channels_last)
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        traced = torch.jit.trace(network.eval().to(memory_format=torch.channels_last), example, check_trace=False)
        fast = torch.jit.freeze(traced)
        fast(example), fast(example)
    return fast
