"""Figures: plain functions from data to a plotly figure, shared by the screens and the experiments."""

import pandas  # noqa: F401  plotly uses it where it is loaded: never half loaded, by another session at that moment
