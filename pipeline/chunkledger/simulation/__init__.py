"""Ranked lists packed as a service would pack them, from the counts in a ledger: which slot, K and chunks fit."""
