"""The claims of the paper: tables of what it says, what is measured, thresholds, verdicts and reasons."""
