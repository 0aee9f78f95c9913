"""The viewer: one X-ray at full resolution, over the cards, with the review beside it."""
