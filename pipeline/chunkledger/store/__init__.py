"""The ledger on disk: a Delta table, one commit a run."""
