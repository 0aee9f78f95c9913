"""Estimators with MAPIE's verbs and shapes, private: any fitted model in, sets or intervals out."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from ppsets_core.data.counts import calibrate, plan_for
from ppsets_core.data.records import Records, one_per_patient, records
from ppsets_core.errors import InputError
from ppsets_core.inputs import as_array, numbered, read_classes, read_numbers, spelled
from ppsets_core.ledger import Account, Ledger
from ppsets_core.method.calibration import Calibration
from ppsets_core.method.rules import DEFAULT
from ppsets_core.method.sets import prediction_interval, prediction_sets
from ppsets_core.scores import IntervalScore, Score, class_score, score_named

NOT_COUNTED = "This release costs ε = {epsilon:g} and no ledger counts it. Pass ledger= and account= to keep a budget."


class _PrivateConformal:
    """What both estimators share: the choices of a plan, and one release."""

    def __init__(
        self, model: Any, alpha: float, epsilon: float, per: str | None, groups: Sequence[str] | None, method: str
    ) -> None:
        self.model, self.alpha, self.epsilon = model, alpha, epsilon
        self.per, self.groups, self.method = per, groups, method
        self.calibration_: Calibration | None = None

    @property
    def calibration(self) -> Calibration:
        """The release, once `conformalize` has made it."""
        if self.calibration_ is None:
            raise InputError("There is no calibration yet: call conformalize(X, y) first.")
        return self.calibration_

    def conformalize(
        self,
        X: Any,
        y: Any,
        patients: Any = None,
        ledger: Ledger | None = None,
        account: Account | None = None,
        *,
        groups: Any = None,
        again: bool = False,
    ) -> Self:
        """Release the thresholds once. It costs ε, which the ledger charges to the account; without, nobody counts it.

        Parameters
        ----------
        X, y : records that the model has not learnt from, and their true classes or numbers
        patients : whose record each is; one of each patient is used, so that ε protects the patient
        ledger, account : who keeps count, and who pays
        groups : each record's group, with `per`
        again : pay and draw anew, although the ledger has an identical release
        """
        if (ledger is None) != (account is None):
            raise InputError("ledger and account belong together: ledger.account_for(…) or open_account(…) gives one.")
        columns = None if groups is None else {str(self.per): groups}
        chosen = one_per_patient(self._records(X, y, patients=patients, groups=columns))
        choices: dict[str, Any] = {"method": self.method, "per": self.per, "groups": self.groups}
        if ledger is not None and account is not None:
            planned = plan_for(chosen, self.alpha, self.epsilon, **choices)
            self.calibration_ = ledger.release(chosen, planned, account, again=again)
        else:
            self.calibration_ = calibrate(chosen, self.alpha, self.epsilon, **choices)
            if spent := self.calibration_.epsilon_spent:
                warnings.warn(NOT_COUNTED.format(epsilon=spent), stacklevel=2)
        return self

    def _records(self, X: Any, y: Any, **who: Any) -> Records:
        """The records of X with the scores of y."""
        raise NotImplementedError


class PrivateConformalClassifier(_PrivateConformal):
    """Prediction sets around a fitted classifier, with coverage at least 1 − α and ε-differential privacy.

    Parameters
    ----------
    model : a fitted classifier with `predict_proba`, as in scikit-learn, or a function from X to probabilities
    alpha : share of true classes that the sets may miss
    epsilon : privacy loss of `conformalize`; smaller is more private
    score : "lac", "aps", "raps", or a score of `ppsets_core.scores`
    per : None promises coverage overall, "diagnosis" within each class, another name within each of its groups
    groups : the names of these groups
    classes : the classes in the order of the probabilities, where the model has no `classes_`
    method : "sharp" (default) or "paper"
    """

    def __init__(
        self,
        model: Any,
        alpha: float = 0.1,
        epsilon: float = 1.0,
        score: str | Score = "lac",
        per: str | None = None,
        *,
        groups: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
        method: str = DEFAULT,
    ) -> None:
        super().__init__(model, alpha, epsilon, per, groups, method)
        self.score = class_score(score)
        self.classes_ = getattr(model, "classes_", None) if classes is None else as_array(list(classes))

    def _records(self, X: Any, y: Any, **who: Any) -> Records:
        shares = self._probabilities(X)
        return records(shares, y, classes=self._names(shares), score=self.score, **who)

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each record."""
        return self._likeliest(self._probabilities(X))

    def predict_set(self, X: Any, *, groups: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest class of each record, and its set as booleans (N, K, 1)."""
        shares = self._probabilities(X)
        calibration = self.calibration
        if calibration.score != self.score:
            raise InputError(f"The calibration is for the score {calibration.score}, and this is for {self.score}.")
        members = prediction_sets(shares, calibration, classes=self._names(shares), groups=_texts(groups))
        return self._likeliest(shares), members[:, :, None]

    def _probabilities(self, X: Any) -> Any:
        return _answer(self.model, "predict_proba", X)

    def _names(self, shares: Any) -> tuple[str, ...]:
        if self.classes_ is not None:
            return read_classes(self.classes_)
        found = getattr(shares, "columns", None)
        return read_classes(found) if found is not None else numbered(as_array(shares).shape[-1])

    def _likeliest(self, shares: Any) -> np.ndarray:
        best = as_array(shares).argmax(axis=1)
        classes = self.classes_ if self.classes_ is not None else getattr(shares, "columns", None)
        return best if classes is None else np.asarray(classes)[best]


class PrivateConformalRegressor(_PrivateConformal):
    """Intervals around a fitted regressor, with coverage at least 1 − α and ε-differential privacy.

    Parameters
    ----------
    model : a fitted regressor with `predict`, or a function from X to predictions. For "cqr": two fitted regressors, of
        the lower and the upper quantile, or a function to (N, 2); a third regressor predicts the middle
    alpha : share of true numbers that the intervals may miss
    epsilon : privacy loss of `conformalize`; smaller is more private
    bound : the largest error, in units of y; larger ones count as this one. Public, and fixed before the records are
        seen. Too small a bound gives the whole line more often, too large a one gives coarser intervals
    score : "residual" or "cqr"
    per, groups : None promises coverage overall, a name within each of the groups named
    method : "sharp" (default) or "paper"
    """

    def __init__(
        self,
        model: Any,
        alpha: float = 0.1,
        epsilon: float = 1.0,
        *,
        bound: float,
        score: str = "residual",
        per: str | None = None,
        groups: Sequence[str] | None = None,
        method: str = DEFAULT,
    ) -> None:
        super().__init__(model, alpha, epsilon, per, groups, method)
        found = score_named(f"{score}:bound={bound}")
        if not isinstance(found, IntervalScore):
            raise InputError("A regressor's score is 'residual' or 'cqr'.")
        self.score = found

    def _records(self, X: Any, y: Any, **who: Any) -> Records:
        predicted, truth = self._predictions(X), read_numbers(y, "y")
        if truth.shape != predicted.shape[:1]:
            raise InputError(f"y: expected one number for each of the {len(predicted)} records.")
        return records(scores=self.score.of_truth(predicted, truth), score=self.score, **who)

    def predict(self, X: Any) -> np.ndarray:
        """The prediction for each record."""
        return self._middle(X, self._predictions(X))

    def predict_interval(self, X: Any, *, groups: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The prediction for each record, and its interval as (N, 2, 1); the whole line where ŝ is 1."""
        predicted = self._predictions(X)
        found = prediction_interval(predicted, self.calibration, groups=_texts(groups))
        return self._middle(X, predicted), found[:, :, None]

    def _predictions(self, X: Any) -> np.ndarray:
        models = self.model if isinstance(self.model, list | tuple) else [self.model]
        found = [read_numbers(_answer(model, "predict", X), "predictions") for model in models[: self.score.columns]]
        return self.score.check_predictions(found[0] if len(found) == 1 else np.column_stack(found))

    def _middle(self, X: Any, predicted: np.ndarray) -> np.ndarray:
        if predicted.ndim == 1:
            return predicted
        if isinstance(self.model, list | tuple) and len(self.model) > 2:
            return read_numbers(_answer(self.model[2], "predict", X), "predictions")
        return predicted.mean(axis=1)


def _texts(groups: Any) -> list[str] | None:
    return None if groups is None else [spelled(one) for one in as_array(groups).tolist()]


def _answer(model: Any, verb: str, X: Any) -> Any:
    """What a fitted estimator or a function says about X."""
    ask: Callable[[Any], Any] | None = getattr(model, verb, None) or (model if callable(model) else None)
    if ask is None:
        raise InputError(f"The model has no {verb} and is no function.")
    return ask(X)
