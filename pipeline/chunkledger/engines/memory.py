"""How much memory this process has had, and how it has less."""

from __future__ import annotations

import sys


def peak_bytes() -> int:
    """The most memory that was resident in this process so far, in bytes; 0 where the system does not say."""
    try:
        # Not getrusage: for a process that was just started it tells the peak of the one that started it.
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            found = next((line for line in status if line.startswith("VmHWM:")), "")
        return int(found.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        return _by_usage()


class _NoPandas:
    """Finds that there is no pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """None for every other module, which the next finder is asked for."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not imported here", name=name)


def without_pandas() -> None:
    """Let pyarrow find no pandas in this process, which must be one of ours alone.

    It imports pandas as soon as it makes an array, where that is installed: 0.2 s and 50 MB, for nothing.
    """
    if "pandas" not in sys.modules and not any(finder is _NoPandas for finder in sys.meta_path):
        sys.meta_path.insert(0, _NoPandas)


def _by_usage() -> int:
    try:
        import resource  # not on every system
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
