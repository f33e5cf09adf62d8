"""Units of work, and where they are run."""
