"""How the property tests run, for all of them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("chunkledger", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("chunkledger")
"""No wall clock: a busy machine, and the tables of characters that a first run builds, would fail a test by chance."""
