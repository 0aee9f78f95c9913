"""From X-rays or a table of probabilities to prediction sets, and to everything that shows or exports them."""
