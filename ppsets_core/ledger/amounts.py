"""Privacy amounts as exact decimals: 0.1 spent ten times is 1."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, DecimalException, Inexact, InvalidOperation

from ppsets_core.errors import InputError
from ppsets_core.validation import check_epsilon

EXACT = Context(prec=100, traps=[Inexact, InvalidOperation])
MOST_DECIMALS = 40
"""More than any float prints with; sums of such amounts are exact."""
MOST_DELTA = Decimal("0.01")
"""The largest chance, over all private trainings together, that a patient's ε does not hold."""
_FINEST_DELTA = Decimal("1e-15")


def amount(value: float | str | Decimal) -> Decimal:
    """Return an ε or a budget as the decimal that it prints as."""
    try:
        exact = Decimal(value if isinstance(value, str | Decimal) else repr(float(value)))
        check_epsilon(float(exact))
        if -int(exact.as_tuple().exponent) > MOST_DECIMALS:
            raise InputError(f"A privacy amount has at most {MOST_DECIMALS} decimals.")
        return EXACT.plus(exact)
    except (DecimalException, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise InputError(str(error).replace("epsilon must", "A privacy amount must")) from None
        raise InputError("A privacy amount must be a positive number, e.g. 2 or 0.5.") from None


def total(amounts: Iterable[Decimal]) -> Decimal:
    result = Decimal(0)
    for value in amounts:
        result = EXACT.add(result, value)
    return result


def difference(whole: Decimal, part: Decimal) -> Decimal:
    return EXACT.subtract(whole, part)


def shown(value: Decimal) -> str:
    """Without exponent or trailing zeros."""
    return f"{value.normalize(EXACT):f}"


@dataclass(frozen=True)
class Price:
    """ε and δ: the cost of a charge per record, or the most that a patient may lose."""

    epsilon: Decimal
    delta: Decimal = Decimal(0)

    def delta_of(self, records: int) -> Decimal:
        """δ for a patient with k records: k·e^((k−1)ε)·δ, rounded up, at most 1."""
        if not self.delta or not records:
            return Decimal(0)
        if records == 1:
            return self.delta
        exponent = math.log(self.delta) + math.log(records) + (records - 1) * float(self.epsilon)
        return Decimal(math.exp(min(exponent, 0)) * (1 + 1e-9)).quantize(_FINEST_DELTA, ROUND_CEILING)
