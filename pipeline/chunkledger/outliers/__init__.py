"""Causes of outliers, and the report on them."""
