"""Trains a peer on a CSV file; prints one line of JSON: time, peak memory, quality.

    python3 bench/peers/training.py peer train.csv test.csv [number ...]
"""

import csv
import json
import os
import subprocess
import sys
import time

import numpy

peer, train_path, test_path, *numbers = sys.argv[1:]
numbers = [float(number) for number in numbers]
AIRLINE = ("xgboost", "lightgbm", "forest", "bagging", "logistic")


def airline(path, known):
    """Texts become codes in alphabetical order, unknown ones -1."""
    with open(path) as file:
        rows = csv.reader(file)
        next(rows)
        columns = [list(column) for column in zip(*rows)]
    x = numpy.empty((len(columns[0]), len(columns) - 1), dtype=numpy.float32)
    for index, column in enumerate(columns[:-1]):
        if not column[0].isdigit():
            if index not in known:
                known[index] = {text: code for code, text in enumerate(sorted(set(column)))}
            column = [known[index].get(text, -1) for text in column]
        x[:, index] = column
    return x, numpy.array([text == "Y" for text in columns[-1]], dtype=numpy.int32)


def reset_peak():
    if os.path.exists("/proc/self/clear_refs"):
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")


def peak_bytes():
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def timed(fit):
    reset_peak()
    cpu, start = time.process_time(), time.perf_counter()
    result = fit()
    found = {
        "seconds": time.perf_counter() - start,
        "cpuSeconds": time.process_time() - cpu,
        "peakBytes": peak_bytes(),
    }
    return result, found


def load(path):
    """Numbers with a header, kept as an array beside the file."""
    if not os.path.exists(path + ".npy"):
        import pandas

        numpy.save(path + ".npy", pandas.read_csv(path).to_numpy())
    return numpy.load(path + ".npy")


def finish(model, x, y, test_x, test_y, is_regression=False):
    from sklearn.metrics import r2_score, roc_auc_score

    _, found = timed(lambda: model.fit(x, y))
    if is_regression:
        found["quality"] = r2_score(test_y, model.predict(test_x))
    else:
        found["quality"] = roc_auc_score(test_y, model.predict_proba(test_x)[:, 1])
    print(json.dumps(found))


if peer in AIRLINE:
    known = {}
    arrays = train_path + ".training.npz"
    if not os.path.exists(arrays):
        x, y = airline(train_path, known)
        test_x, test_y = airline(test_path, known)
        numpy.savez(arrays, x=x, y=y, test_x=test_x, test_y=test_y, texts=sorted(known))
        # Again in a new process, so that the lists do not count as memory of the training.
        os.execv(sys.executable, [sys.executable, *sys.argv])
    loaded = numpy.load(arrays)
    x, y, test_x, test_y = (loaded[name] for name in ("x", "y", "test_x", "test_y"))
    if peer == "xgboost":
        from xgboost import XGBClassifier as Learner

        model = Learner(
            n_estimators=100, max_depth=6, learning_rate=0.1, tree_method="hist", max_bin=255,
            n_jobs=2, random_state=1,
        )
    elif peer == "lightgbm":
        from lightgbm import LGBMClassifier as Learner

        model = Learner(
            n_estimators=100, max_depth=6, num_leaves=64, learning_rate=0.1, max_bin=255, n_jobs=2,
            random_state=1, verbose=-1,
        )
    elif peer == "forest":
        from sklearn.ensemble import RandomForestClassifier as Learner

        model = Learner(n_estimators=100, max_depth=20, n_jobs=2, random_state=1)
    elif peer == "bagging":
        from sklearn.ensemble import BaggingClassifier
        from sklearn.tree import DecisionTreeClassifier

        model = BaggingClassifier(
            DecisionTreeClassifier(), n_estimators=20, max_samples=0.65, random_state=1
        )
    else:
        from sklearn.compose import ColumnTransformer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        texts = [int(index) for index in loaded["texts"]]
        rest = [index for index in range(x.shape[1]) if index not in texts]
        columns = ColumnTransformer(
            [("texts", OneHotEncoder(handle_unknown="ignore"), texts), ("rest", StandardScaler(), rest)]
        )
        model = make_pipeline(columns, LogisticRegression(C=1e5, max_iter=200))
    finish(model, x, y, test_x, test_y)
elif peer in ("adaboost", "stumps", "ridge", "lasso"):
    table, test = load(train_path), load(test_path)
    x, test_x = numpy.ascontiguousarray(table[:, :-2]), test[:, :-2]
    if peer == "ridge":
        from sklearn.linear_model import Ridge

        finish(Ridge(alpha=1.0), x, table[:, -2], test_x, test[:, -2], True)
    elif peer == "lasso":
        from sklearn.linear_model import lasso_path

        _, found = timed(lambda: lasso_path(x, table[:, -2], n_alphas=50))
        print(json.dumps(found))
    else:
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        rounds, depth = (int(number) for number in numbers)
        model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=rounds)
        finish(model, x, table[:, -1], test_x, test[:, -1])
elif peer == "fasttext":
    # The program itself: files of labels and words, times of its process.
    import resource

    start = time.perf_counter()
    command = ["fasttext", "supervised", "-input", train_path, "-output", train_path + ".model"]
    subprocess.run(
        [*command, "-dim", "100", "-epoch", "5", "-lr", "0.05", "-thread", "2", "-minCount", "1"],
        check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )
    seconds = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    test = subprocess.run(
        ["fasttext", "test", train_path + ".model.bin", test_path], check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    accuracy = float(next(l for l in test.stdout.splitlines() if l.startswith("P@1")).split()[1])
    print(json.dumps({
        "seconds": seconds, "cpuSeconds": usage.ru_utime + usage.ru_stime,
        "peakBytes": usage.ru_maxrss * 1024, "quality": accuracy,
    }))
else:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    with open(train_path) as file:
        next(file)
        texts = [line.rstrip("\n").split(",", 1)[1] for line in file]
    if peer == "tfidf":
        _, found = timed(lambda: TfidfVectorizer(lowercase=False, token_pattern=r"\S+").fit(texts))
    else:
        from scipy.sparse.linalg import svds

        counts = CountVectorizer(binary=True, lowercase=False, token_pattern=r"\S+")
        matrix = counts.fit_transform(texts).astype(float)
        del texts, counts
        values, found = timed(lambda: svds(matrix, k=int(numbers[0]), solver="arpack")[1])
        found["quality"] = float((values**2).sum() / matrix.shape[0])
    print(json.dumps(found))
