"""What runs experiments: cells that are kept, files, the report."""
