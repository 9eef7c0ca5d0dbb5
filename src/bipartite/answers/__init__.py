"""What a report is worth, what many reports say, and which mechanism to take."""
