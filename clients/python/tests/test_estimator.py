import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from rowan_client.estimator import RowanClassifier, RowanRegressor

# Of scikit-learn's checks those that do not fit dozens of models.
COMMON = [
    "check_estimator_cloneable",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_estimators_unfitted",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_fit2d_1feature",
    "check_fit1d",
    "check_dict_unchanged",
    "check_methods_subset_invariance",
    "check_estimators_dtypes",
]
CLASSIFIER = ["check_classifiers_classes", "check_classifiers_one_label", "check_classifiers_regression_target"]
REGRESSOR = ["check_regressors_int", "check_regressors_no_decision_function"]


def _run_check(name, estimator):
    getattr(estimator_checks, name)(type(estimator).__name__, estimator)


@pytest.mark.parametrize("name", COMMON + CLASSIFIER)
def test_classifier_passes(rowan, name):
    _run_check(name, RowanClassifier(rowan.url))


@pytest.mark.parametrize("name", COMMON + REGRESSOR)
def test_regressor_passes(rowan, name):
    _run_check(name, RowanRegressor(rowan.url))


def test_classifier_learns(rowan):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = RowanClassifier(rowan).fit(X, names)
    assert (model.predict(X) == names).mean() > 0.95
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (150, 3)
    assert np.allclose(probabilities.sum(axis=1), 1)
    steps = make_pipeline(StandardScaler(), clone(RowanClassifier(rowan, algorithm="glz")))
    assert cross_val_score(steps, X, y, cv=3).mean() > 0.85


def test_regressor_learns(rowan):
    X, y = load_diabetes(return_X_y=True)
    model = RowanRegressor(rowan).fit(X, y)
    assert model.score(X, y) > 0.5


def test_functions_go_with_their_estimators(rowan):
    model = RowanRegressor(rowan).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0])
    name = model.function_
    assert name in dir(rowan.functions)
    del model
    assert name not in dir(rowan.functions)
