"""Trains a peer on an airline CSV and times what it does with the model; prints one line of JSON.

    python3 bench/peers/scoring.py xgboost|forest|logistic train.csv rows.csv shap-row-count
"""

import json
import sys
import time

import numpy
import pandas

peer, train_path, rows_path, shap_count = sys.argv[1:]
shap_count = int(shap_count)
train, rows = pandas.read_csv(train_path), pandas.read_csv(rows_path)
y = (train.pop("dep_delayed_15min") == "Y").to_numpy().astype(int)
rows.pop("dep_delayed_15min")
texts = [name for name in train.columns if not pandas.api.types.is_numeric_dtype(train[name])]
for name in texts:
    known = pandas.CategoricalDtype(sorted(train[name].unique()))
    train[name] = train[name].astype(known).cat.codes
    rows[name] = rows[name].astype(known).cat.codes
x, rows_x = train.to_numpy(dtype=numpy.float32), rows.to_numpy(dtype=numpy.float32)


def cpu_seconds(work):
    cpu = time.process_time()
    result = work()
    return result, time.process_time() - cpu


def calls_per_second(call):
    row = rows_x[:1]
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < 1:
        call(row)
        count += 1
    return count / (time.perf_counter() - start)


def shap_seconds(model):
    import shap

    explainer = shap.TreeExplainer(model)
    return cpu_seconds(lambda: explainer.shap_values(rows_x[:shap_count]))[1]


found = {}
if peer == "xgboost":
    from xgboost import XGBClassifier

    model = XGBClassifier(
        n_estimators=100, max_depth=6, learning_rate=0.1, tree_method="hist", max_bin=255, n_jobs=2,
        random_state=1,
    ).fit(x, y)
    found["callsPerSecond"] = calls_per_second(model.get_booster().inplace_predict)
    found["shapCpuSeconds"] = shap_seconds(model)
elif peer == "forest":
    from sklearn.ensemble import RandomForestClassifier

    forest = lambda depth: RandomForestClassifier(100, max_depth=depth, n_jobs=2, random_state=1)
    model = forest(20).fit(x, y)
    found["shapCpuSeconds"] = shap_seconds(forest(12).fit(x, y))
else:
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    places = [train.columns.get_loc(name) for name in texts]
    rest = [place for place in range(x.shape[1]) if place not in places]
    columns = ColumnTransformer(
        [("texts", OneHotEncoder(handle_unknown="ignore"), places), ("rest", StandardScaler(), rest)]
    )
    model = make_pipeline(columns, LogisticRegression(C=1e5, max_iter=200)).fit(x, y)
    found["callsPerSecond"] = calls_per_second(model.predict_proba)
if peer != "logistic":
    scores, found["scoreCpuSeconds"] = cpu_seconds(lambda: model.predict_proba(rows_x)[:, 1])
    found["mean"] = float(scores.mean())
print(json.dumps(found))
