"""The views of the Explore screen. Nothing here spends privacy: records are public, simulated, or said to be public."""
