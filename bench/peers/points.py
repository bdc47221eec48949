"""Clusterings and projections of scikit-learn, openTSNE and umap-learn on points from a file.

    python3 bench/peers/points.py task points.f64 dimension

prints one line of JSON: seconds, and what the fit lost. Points are little-endian doubles, row by row.
"""

import json
import sys
import time

import numpy

task, path, dimension = sys.argv[1], sys.argv[2], int(sys.argv[3])
points = numpy.fromfile(path, dtype="<f8").reshape(-1, dimension)


def kmeans():
    from sklearn.cluster import KMeans

    model = KMeans(100, init="random", n_init=1, max_iter=10, tol=0, random_state=1)
    model.fit(points)
    return model.inertia_ / len(points)


def gaussian():
    from sklearn.mixture import GaussianMixture

    model = GaussianMixture(10, max_iter=20, tol=0, init_params="random_from_data", random_state=1)
    model.fit(points)
    return -model.lower_bound_


def tsne():
    from openTSNE import TSNE

    return float(TSNE(n_jobs=2, random_state=1, initialization="random").fit(points).kl_divergence)


def umap():
    import umap

    model = umap.UMAP(random_state=1)
    model.fit(points[:200])  # compiles
    start = time.perf_counter()
    umap.UMAP(random_state=1).fit(points)
    return {"seconds": time.perf_counter() - start}


def svm():
    from sklearn.svm import SVC

    labels = points[:, 0] * points[:, 1] + 0.3 * points[:, 2] > 0
    model = SVC(gamma=1 / dimension).fit(points, labels)
    return int(model.n_support_.sum())


start = time.perf_counter()
found = {"kmeans": kmeans, "gaussian": gaussian, "tsne": tsne, "umap": umap, "svm": svm}[
    task
]()
seconds = time.perf_counter() - start
print(json.dumps(found if isinstance(found, dict) else {"seconds": seconds, "loss": found}))
