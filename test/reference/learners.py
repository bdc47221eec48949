"""Writes test/reference/learners.json: what scikit-learn, XGBoost, umap-learn and openTSNE find in data sets that
scikit-learn ships. Run by hand:

    pip install scikit-learn xgboost umap-learn openTSNE
    python test/reference/learners.py
"""

import json
from pathlib import Path

import numpy as np
import umap
import xgboost
from openTSNE import TSNE
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.manifold import trustworthiness
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    log_loss,
    mean_squared_error,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

iris, wine = load_iris(return_X_y=True), load_wine(return_X_y=True)
diabetes = load_diabetes(return_X_y=True, scaled=False)


def rows(data):
    return [[*(round(float(v), 6) for v in x), float(y)] for x, y in zip(*data)]


def standardized(x):
    """Columns of mean 0 and variance 1, and the constant 1, which is penalised like the others."""
    mean, scale = x.mean(0), x.std(0)
    return np.column_stack([(x - mean) / scale, np.ones(len(x))]), mean, scale


def original(coefficients, mean, scale):
    slopes = coefficients[:-1] / scale
    return [*slopes.tolist(), float(coefficients[-1] - (slopes * mean).sum())]


def penalised(model, data):
    x, mean, scale = standardized(data[0])
    return original(model.fit(x, data[1]).coef_, mean, scale)


def unpenalised(model, x, y):
    model.fit(x, y)
    return [*np.ravel(model.coef_).tolist(), float(np.ravel(model.intercept_)[0])]


def held_out(data, model, score):
    """Every third row is tested on."""
    x, y = data
    test = np.arange(len(y)) % 3 == 0
    model.fit(x[~test], y[~test])
    return float(score(model, x[test], y[test]))


def accuracy(model, x, y):
    return accuracy_score(y, model.predict(x))


def area(model, x, y):
    return roc_auc_score(y, model.predict_proba(x)[:, 1])


def error(model, x, y):
    return mean_squared_error(y, model.predict(x))


LAMBDA = 30.0
course = (diabetes[0], (diabetes[1] > 140).astype(int))
count = len(diabetes[1])
scores = np.round(1 / (1 + np.exp(-(iris[0][50:, 3] - 1.65) * 4)), 3)
truths = (iris[1][50:] == 2).astype(int)
isotonic = IsotonicRegression().fit(scores, truths)
pair = iris[1] > 0
scaled_wine = StandardScaler().fit_transform(wine[0])
correlations = np.linalg.eigvalsh(np.corrcoef(wine[0].T))[::-1]

reference = {
    "data": {"iris": rows(iris), "wine": rows(wine), "diabetes": rows(diabetes)},
    "glz": {
        "lambda": LAMBDA,
        "least squares": unpenalised(LinearRegression(), *diabetes),
        "ridge": penalised(Ridge(alpha=LAMBDA, fit_intercept=False, solver="cholesky"), diabetes),
        "lasso": penalised(
            Lasso(alpha=LAMBDA / (2 * count), fit_intercept=False, tol=1e-14, max_iter=1_000_000), diabetes
        ),
        "logit": unpenalised(
            LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky", max_iter=1000),
            iris[0][50:, :3],
            truths,
        ),
    },
    "svd": {"singularValues": np.sqrt(correlations).tolist()},
    "kmeans": {
        "iris": KMeans(3, n_init=20, random_state=1).fit(iris[0]).inertia_,
        "wine": KMeans(3, n_init=20, random_state=1).fit(scaled_wine).inertia_,
    },
    "metrics": {
        "scores": scores.tolist(),
        "labels": truths.tolist(),
        "auc": roc_auc_score(truths, scores),
        "prAuc": average_precision_score(truths, scores),
        "brier": brier_score_loss(truths, scores),
        "logLoss": log_loss(truths, scores),
        "isotonic": isotonic.predict(scores).tolist(),
    },
    "accuracy": {
        "gbt": held_out(wine, xgboost.XGBClassifier(n_estimators=50, max_depth=3), accuracy),
        "bagging": held_out(wine, RandomForestClassifier(100, random_state=1), accuracy),
        "boosting": held_out(wine, AdaBoostClassifier(n_estimators=50, random_state=1), accuracy),
        "glz": held_out(wine, make_pipeline(StandardScaler(), LogisticRegression()), accuracy),
        "naive_bayes": held_out(wine, GaussianNB(), accuracy),
        "perceptron": held_out(
            wine, make_pipeline(StandardScaler(), MLPClassifier((20,), max_iter=500, random_state=1)), accuracy
        ),
    },
    "auc": {
        name: held_out(course, model, area)
        for name, model in {
            "gbt": xgboost.XGBClassifier(n_estimators=50, max_depth=3, learning_rate=0.1),
            "bagging": RandomForestClassifier(100, random_state=1),
            "boosting": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=20, random_state=1),
            "boosted_stumps": AdaBoostClassifier(n_estimators=30, random_state=1),
            "decision_tree": DecisionTreeClassifier(max_depth=3),
            "stump": DecisionTreeClassifier(max_depth=1),
            "glz": make_pipeline(StandardScaler(), LogisticRegression()),
            "naive_bayes": GaussianNB(),
            "perceptron": make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=500, random_state=1)),
        }.items()
    },
    "squaredError": {
        "gbt": held_out(diabetes, xgboost.XGBRegressor(n_estimators=50, max_depth=3, learning_rate=0.1), error),
        "decision_tree": held_out(diabetes, DecisionTreeRegressor(max_depth=3), error),
        "glz": held_out(diabetes, LinearRegression(), error),
    },
    "trustworthiness": {
        "tsne": trustworthiness(scaled_wine, TSNE(perplexity=30, random_state=1).fit(scaled_wine), n_neighbors=15),
        "umap": trustworthiness(scaled_wine, umap.UMAP(random_state=1).fit_transform(scaled_wine), n_neighbors=15),
    },
}
text = json.dumps(reference, default=float)
(Path(__file__).parent / "learners.json").write_text(text + "\n")
