"""The paper's experiments and ours, one file each: `run` computes, `findings` tells it in tables and sentences,
and `figures` draws it. `ppsets experiment NAME` does all three.

levels, two_by_two, bins, epsilons, coronahack, per_diagnosis, peers (with p_coqs), three_xrays and audit. Beside them:
what they hand over (findings), the records that bins and epsilons share (sources, simulated_imagenet), how the networks
of two_by_two were trained (two_by_two_training, small_network), and how audit measures (privacy_loss, goodness_of_fit).
"""
