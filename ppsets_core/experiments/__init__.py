"""The paper's experiments and ours, one file each: `run` computes, `findings` puts the result into tables and
sentences, `figures` draws it. `ppsets experiment NAME` does all three.

levels, two_by_two, bins, epsilons, coronahack, per_diagnosis, peers, three_xrays and audit;
findings has what they share.
"""
