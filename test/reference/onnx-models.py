"""Writes test/reference/onnx-models/*.onnx and expected.json: models of other programs as ONNX files, and what
onnxruntime says of them, and shap of some. Run by hand:

    pip install onnx onnxruntime skl2onnx onnxmltools scikit-learn xgboost lightgbm shap
    python test/reference/onnx-models.py
"""

import json
from pathlib import Path

import lightgbm
import numpy as np
import onnxruntime
import shap
import xgboost
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as OtherFloats
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

FOLDER = Path(__file__).parent / "onnx-models"
ROWS = 12
expected = {}


def keep(name, model, x):
    content = model.SerializeToString()
    (FOLDER / f"{name}.onnx").write_bytes(content)
    rows = x[:: max(1, len(x) // ROWS)][:ROWS].astype(np.float32)
    session = onnxruntime.InferenceSession(content)
    outputs = session.run(None, {session.get_inputs()[0].name: rows})
    expected[name] = {
        "input": session.get_inputs()[0].name,
        "rows": rows.astype(float).tolist(),
        "outputs": {
            info.name: (value if isinstance(value, list) else value.tolist())
            for info, value in zip(session.get_outputs(), outputs)
        },
    }


def keep_shap(name, model):
    """Shapley values against other rows, which need no numbers of training rows."""
    rows = np.array(expected[name]["rows"])
    background, explained = rows[6:], rows[:6]
    explainer = shap.TreeExplainer(model, background, feature_perturbation="interventional")
    values = explainer.shap_values(explained)
    expected[name]["shap"] = {
        "base": float(np.ravel(explainer.expected_value)[-1]),
        "values": values.tolist(),
    }


def sklearn(name, model, data, zipmap=False):
    x, y = data
    model.fit(x, y)
    options = {"zipmap": zipmap} if hasattr(model, "predict_proba") else None
    keep(name, to_onnx(model, x[:1].astype(np.float32), options=options and {id(model): options}), x)
    if name in ("tree-regressor", "forest-regressor", "boosting"):
        keep_shap(name, model)


iris, cancer, diabetes = (load(return_X_y=True) for load in (load_iris, load_breast_cancer, load_diabetes))
sklearn("tree-regressor", DecisionTreeRegressor(max_depth=3), diabetes)
sklearn("forest-classifier", RandomForestClassifier(4, max_depth=3, random_state=1), cancer)
sklearn("forest-iris", RandomForestClassifier(4, max_depth=3, random_state=1), iris, zipmap=True)
sklearn("forest-regressor", RandomForestRegressor(3, max_depth=3, random_state=1), diabetes)
sklearn("boosting", GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=1), cancer)
sklearn("linear", LinearRegression(), diabetes)
sklearn("logistic", make_pipeline(StandardScaler(), LogisticRegression()), cancer)
sklearn("logistic-iris", LogisticRegression(max_iter=1000), iris)
sklearn("network", MLPClassifier((5,), max_iter=50, random_state=1), iris)

x, y = cancer
holes = x.copy()
holes[::7, 2] = np.nan
booster = xgboost.XGBClassifier(n_estimators=4, max_depth=3, random_state=1).fit(holes, y)
keep("xgboost", convert_xgboost(booster, initial_types=[("x", OtherFloats([None, x.shape[1]]))]), holes)
booster = xgboost.XGBRegressor(n_estimators=4, max_depth=3, random_state=1).fit(*diabetes)
keep("xgboost-regressor", convert_xgboost(booster, initial_types=[("x", OtherFloats([None, 10]))]), diabetes[0])
keep_shap("xgboost-regressor", booster)
booster = lightgbm.LGBMClassifier(n_estimators=4, max_depth=3, random_state=1, verbose=-1).fit(holes, y)
keep("lightgbm", convert_lightgbm(booster, initial_types=[("x", OtherFloats([None, x.shape[1]]))], zipmap=False), holes)
booster = lightgbm.LGBMClassifier(n_estimators=2, max_depth=2, random_state=1, verbose=-1).fit(*iris)
keep("lightgbm-iris", convert_lightgbm(booster, initial_types=[("x", OtherFloats([None, 4]))], zipmap=False), iris[0])
text = json.dumps(expected, default=float).replace("NaN", "null")
(FOLDER / "expected.json").write_text(text + "\n")
