"""What stands for a file, and how its name is shown: score files, X-rays and weights alike."""
