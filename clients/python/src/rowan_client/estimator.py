"""Estimators that train and predict on a server, by the rules of scikit-learn."""

import json
import uuid
import weakref

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .connection import Connection, RowanError, connect

# Rows that are scored with one request.
ROWS_AT_ONCE = 5000


class _RowanEstimator(BaseEstimator):
    """What both estimators do: data go to the server, a model and its function stay there.

    server: address or Connection; default ROWAN_URL
    algorithm: of `classifier.train`: gbt, glz, bdt, bbdt, dt and others
    configuration: options of the algorithm, as the reference of learners lists them
    model_url: where the model file is kept; default: in the memory of the server
    function_name: name of the function that scores; default: one of its own, which is removed
        together with the estimator
    """

    def __init__(self, server=None, algorithm="gbt", configuration=None, model_url=None, function_name=None):
        self.server = server
        self.algorithm = algorithm
        self.configuration = configuration
        self.model_url = model_url
        self.function_name = function_name

    def _connection(self):
        return self.server if isinstance(self.server, Connection) else connect(self.server)

    def _train(self, X, labels, mode):
        connection = self._connection()
        name = f"python_{uuid.uuid4().hex}"
        self._columns = [f"f{index}" for index in range(X.shape[1])]
        rows = (
            {**dict(zip(self._columns, row)), "label": label} for row, label in zip(X.tolist(), labels)
        )
        connection.record(name, rows)
        function = self.function_name or name
        features = ", ".join(self._columns)
        params = {
            "trainingData": f'SELECT {{{features}}} AS features, label FROM "{name}"',
            "mode": mode,
            "algorithm": self.algorithm,
            "modelFileUrl": self.model_url or f"mem://{name}.cls",
            "functionName": function,
        }
        if self.configuration is not None:
            params["configuration"] = {**self.configuration}
            if "type" in params["configuration"]:
                del params["algorithm"]
        try:
            connection.run("classifier.train", params, progress=False)
        finally:
            connection.delete_dataset(name)
        self.function_ = function
        if self.function_name is None:
            weakref.finalize(self, _remove, connection, function)

    def _scores(self, X):
        check_is_fitted(self, "function_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        connection = self._connection()
        outputs = []
        for start in range(0, len(X), ROWS_AT_ONCE):
            rows = X[start : start + ROWS_AT_ONCE].tolist()
            inputs = [{"features": dict(zip(self._columns, row))} for row in rows]
            outputs.extend(connection.apply_batch(self.function_, inputs))
        return outputs


def _remove(connection, function):
    try:
        connection.request("DELETE", f"functions/{function}")
    except (RowanError, OSError):
        pass  # The server is gone, and the function with it.


class RowanClassifier(ClassifierMixin, _RowanEstimator):
    """A classifier on a server; see the parameters of the constructor."""

    def fit(self, X, y):
        """Trains on features X (rows by columns, finite numbers) and labels y."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, indexes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_[0]!r}")
        self._train(X, [f"c{index}" for index in indexes], "categorical")
        return self

    def predict_proba(self, X):
        """Probabilities, rows by classes in the order of `classes_`."""
        outputs = self._scores(X)
        raw = np.zeros((len(outputs), len(self.classes_)))
        for row, output in enumerate(outputs):
            for label, score in _pairs(output["scores"]):
                raw[row, int(json.loads(label)[1:])] = max(score, 0.0)
        total = raw.sum(axis=1, keepdims=True)
        return np.where(total > 0, raw / np.where(total > 0, total, 1), 1 / len(self.classes_))

    def predict(self, X):
        """The most probable label of each row."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]


class RowanRegressor(RegressorMixin, _RowanEstimator):
    """A regressor on a server; see the parameters of the constructor."""

    def fit(self, X, y):
        """Trains on features X (rows by columns, finite numbers) and numbers y."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._train(X, y.tolist(), "regression")
        return self

    def predict(self, X):
        """A number for each row."""
        return np.array([output["score"] for output in self._scores(X)], dtype=np.float64)


def _pairs(scores):
    """Label and score, whether they come as an object or as pairs."""
    return scores.items() if isinstance(scores, dict) else scores
