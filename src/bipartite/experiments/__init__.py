"""The paper's experiments: one file a figure, and a verdict on every claim."""
