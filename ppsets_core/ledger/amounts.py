"""Privacy amounts as exact decimals: 0.1 spent ten times is 1."""

from collections.abc import Iterable
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation

from ppsets_core.errors import InputError
from ppsets_core.validation import check_epsilon

EXACT = Context(prec=100, traps=[Inexact, InvalidOperation])


def amount(value: float | str | Decimal) -> Decimal:
    """An ε or a budget as the decimal that it prints as."""
    try:
        exact = Decimal(value if isinstance(value, str | Decimal) else repr(float(value)))
        check_epsilon(float(exact))
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
    """Without exponent or idle zeros."""
    return f"{value.normalize(EXACT):f}"
