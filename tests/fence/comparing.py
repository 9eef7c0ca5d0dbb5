"""How a kept result and one of today are compared."""

import math

_DIGITS = ".12g"


def differences(kept, now, within, path=""):
    """Where the two differ, in words. Floats may differ by ``within``, relative to their size and at least to 1.

    ``within`` is 0 for exactly, or one tolerance for each key of the result; what it does not name is compared exactly.
    Whole numbers, texts and truth values are always compared exactly.
    """
    if isinstance(kept, dict) and isinstance(now, dict):
        found = [f"{_at(path, key)}: kept {kept[key]!r}, now gone" for key in kept if key not in now]
        found += [f"{_at(path, key)}: new, {now[key]!r}" for key in now if key not in kept]
        for key in kept:
            if key in now:
                found += differences(kept[key], now[key], _of(within, key), _at(path, key))
        return found
    if isinstance(kept, list) and isinstance(now, list):
        if len(kept) != len(now):
            return [f"{path}: kept {len(kept)} entries, now {len(now)}"]
        found = [differences(a, b, within, f"{path}[{at}]") for at, (a, b) in enumerate(zip(kept, now, strict=True))]
        return [each for several in found for each in several]
    tolerance = 0 if isinstance(within, dict) else within
    if type(kept) is type(now) is float and math.isclose(kept, now, rel_tol=tolerance, abs_tol=tolerance):
        return []
    return [] if type(kept) is type(now) and kept == now else [f"{path}: kept {kept!r}, now {now!r}"]


def rounded(value, within):
    """A result as it is kept: floats that are compared with a tolerance have twelve digits."""
    if isinstance(value, dict):
        return {key: rounded(each, _of(within, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each, within) for each in value]
    return (
        float(f"{value:{_DIGITS}}") if isinstance(value, float) and within and not isinstance(within, dict) else value
    )


def _of(within, key):
    return within.get(key, 0) if isinstance(within, dict) else within


def _at(path, key):
    return f"{path}.{key}" if path else str(key)
