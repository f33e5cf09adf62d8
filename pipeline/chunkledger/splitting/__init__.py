"""Blocks and counts -> chunks."""
