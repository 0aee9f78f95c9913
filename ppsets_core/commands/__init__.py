"""The command line, one file per verb: each says what it does, takes its arguments and runs."""
