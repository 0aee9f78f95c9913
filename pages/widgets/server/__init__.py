"""What stands before every request, whoever starts the app: which addresses it has, who may ask, and for what."""
