"""The command line, one file a verb: each says what it does, takes its arguments and runs."""
