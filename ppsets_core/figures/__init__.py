"""Figures: plain functions from data to a plotly figure, shared by the screens and the experiments."""
