"""Which mechanism, which ε, how many people."""
