"""A ledger, and what it would be with other settings: split into a scratch ledger, compared, thrown away."""
