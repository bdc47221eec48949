"""Trains a peer on an airline CSV and times what it does with the model; prints one line of JSON.

    python3 bench/peers/learners.py xgboost|lightgbm|logistic|adaboost train.csv test.csv threads
"""

import csv
import json
import multiprocessing
import os
import re
import sys
import time

peer, train_path, test_path, threads = sys.argv[1:]
threads = int(threads)
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = str(threads)

import numpy
from sklearn.metrics import roc_auc_score


def peak_memory():
    """Bytes. ru_maxrss would begin with what the process that started this one had."""
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) * 1024

ROUNDS, DEPTH, SHAP_ROWS = 100, 6, 10_000


def convert(target):
    """Texts become codes in alphabetical order, unknown ones -1."""
    with open(train_path) as file:
        rows = csv.reader(file)
        names = next(rows)
        columns = [list(column) for column in zip(*rows)]
    with open(test_path) as file:
        test_columns = [list(column) for column in zip(*list(csv.reader(file))[1:])]
    x = numpy.empty((len(columns[0]), len(names) - 1), dtype=numpy.float32)
    test_x = numpy.empty((len(test_columns[0]), len(names) - 1), dtype=numpy.float32)
    texts = []
    for index in range(len(names) - 1):
        column, test_column = columns[index], test_columns[index]
        if not column[0].isdigit():
            texts.append(index)
            known = {text: code for code, text in enumerate(sorted(set(column)))}
            column = [known[text] for text in column]
            test_column = [known.get(text, -1) for text in test_column]
        x[:, index], test_x[:, index] = column, test_column
    y = numpy.array([text == "Y" for text in columns[-1]], dtype=numpy.int32)
    test_y = numpy.array([text == "Y" for text in test_columns[-1]], dtype=numpy.int32)
    numpy.savez(target, x=x, y=y, test_x=test_x, test_y=test_y, texts=texts)


# In a process of its own, so that the lists do not count as memory of the training.
arrays = train_path + ".learners.npz"
if not os.path.exists(arrays):
    conversion = multiprocessing.Process(target=convert, args=(arrays,))
    conversion.start()
    conversion.join()
loaded = numpy.load(arrays)
x, y, test_x, test_y, texts = (loaded[name] for name in ("x", "y", "test_x", "test_y", "texts"))

if peer == "xgboost":
    from xgboost import XGBClassifier

    model = XGBClassifier(
        n_estimators=ROUNDS, max_depth=DEPTH, learning_rate=0.1, tree_method="hist",
        max_bin=255, n_jobs=threads, random_state=1,
    )
elif peer == "lightgbm":
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(
        n_estimators=ROUNDS, max_depth=DEPTH, num_leaves=64, learning_rate=0.1,
        max_bin=255, n_jobs=threads, random_state=1, verbose=-1,
    )
elif peer == "adaboost":
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=50, random_state=1)
else:
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [index for index in range(x.shape[1]) if index not in texts]
    columns = ColumnTransformer(
        [("texts", OneHotEncoder(handle_unknown="ignore"), list(texts)),
         ("numbers", StandardScaler(), numbers)]
    )
    model = make_pipeline(columns, LogisticRegression(C=1e5, max_iter=200))

cpu, start = time.process_time(), time.perf_counter()
model.fit(x, y)
found = {
    "seconds": time.perf_counter() - start,
    "cpuSeconds": time.process_time() - cpu,
    "peakBytes": peak_memory(),
}
start = time.perf_counter()
probabilities = model.predict_proba(test_x)[:, 1]
found["rowsPerSecond"] = len(test_x) / (time.perf_counter() - start)
found["auc"] = roc_auc_score(test_y, probabilities)
start, count = time.perf_counter(), 0
row = test_x[:1]
one = model.get_booster().inplace_predict if peer == "xgboost" else model.predict_proba
while time.perf_counter() - start < 1:
    one(row)
    count += 1
found["oneRowPerSecond"] = count / (time.perf_counter() - start)
if peer == "xgboost":
    import shap

    explainer = shap.TreeExplainer(model)
    start = time.perf_counter()
    explainer.shap_values(test_x[:SHAP_ROWS])
    found["shapSeconds"] = time.perf_counter() - start
print(json.dumps(found))
