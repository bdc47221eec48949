"""Trains scikit-learn's or XGBoost's random forest on an airline CSV; prints one line of JSON.

    python3 bench/peers/forest.py sklearn|xgboost train.csv test.csv trees depth threads
"""

import csv
import json
import multiprocessing
import os
import re
import sys
import time

import numpy
from sklearn.metrics import roc_auc_score


def peak_memory():
    """Bytes. ru_maxrss would begin with what the process that started this one had."""
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) * 1024

peer, train_path, test_path, trees, depth, threads = sys.argv[1:]
trees, depth, threads = int(trees), int(depth), int(threads)


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
    for index in range(len(names) - 1):
        column, test_column = columns[index], test_columns[index]
        if not column[0].isdigit():
            known = {text: code for code, text in enumerate(sorted(set(column)))}
            column = [known[text] for text in column]
            test_column = [known.get(text, -1) for text in test_column]
        x[:, index], test_x[:, index] = column, test_column
    y = numpy.array([text == "Y" for text in columns[-1]], dtype=numpy.int32)
    test_y = numpy.array([text == "Y" for text in test_columns[-1]], dtype=numpy.int32)
    numpy.savez(target, x=x, y=y, test_x=test_x, test_y=test_y)


# In a process of its own, so that the lists do not count as memory of the training.
arrays = train_path + ".npz"
if not os.path.exists(arrays):
    conversion = multiprocessing.Process(target=convert, args=(arrays,))
    conversion.start()
    conversion.join()
loaded = numpy.load(arrays)
x, y, test_x, test_y = (loaded[name] for name in ("x", "y", "test_x", "test_y"))

if peer == "sklearn":
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(
        n_estimators=trees, max_depth=depth, max_features="sqrt", n_jobs=threads, random_state=1
    )
else:
    from xgboost import XGBRFClassifier

    model = XGBRFClassifier(
        n_estimators=trees, max_depth=depth, tree_method="hist", subsample=0.632,
        colsample_bynode=0.3, n_jobs=threads, random_state=1,
    )

start, cpu = time.perf_counter(), time.process_time()
model.fit(x, y)
seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
peak = peak_memory()
start = time.perf_counter()
scores = model.predict_proba(test_x)[:, 1]
predict_seconds = time.perf_counter() - start


def one_row_rate(jobs):
    """Rows a second, one at a time: threads cost more than they bring there."""
    model.set_params(n_jobs=jobs)
    one = 0
    start = time.perf_counter()
    while time.perf_counter() - start < 2:
        model.predict_proba(test_x[one : one + 1])
        one += 1
    return one / (time.perf_counter() - start)


print(json.dumps({
    "seconds": seconds, "cpuSeconds": cpu_seconds, "peakBytes": peak,
    "auc": roc_auc_score(test_y, scores), "rowsPerSecond": len(test_y) / predict_seconds,
    "oneRowPerSecond": {str(jobs): one_row_rate(jobs) for jobs in (1, 2)},
}))
