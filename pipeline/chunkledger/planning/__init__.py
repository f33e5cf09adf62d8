"""What a run has to do: which documents are to be read, which stay, and in which part each ends up."""
