"""e^ε by mpmath, which shares no code with the decimal arithmetic of the package. 1200 digits: nothing ties."""

import mpmath

mpmath.mp.dps = 1200


def number(epsilon) -> mpmath.mpf:
    """A decimal ε, however it is given."""
    return mpmath.mpf(str(getattr(epsilon, "value", epsilon)))


def exp(epsilon) -> mpmath.mpf:
    """e^ε."""
    return mpmath.exp(number(epsilon))
