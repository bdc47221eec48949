"""Nearest neighbors by hnswlib and by scikit-learn's exact search, of points from a file.

    python3 bench/peers/neighbors.py points.f32 dimension neighbors queries recall

prints one line of JSON: CPU seconds of one thread, and the recall that was reached. Points are little-endian
floats, row by row; the queries are taken from all over.
"""

import json
import math
import os
import sys
import tempfile
import time

import hnswlib
import numpy
from sklearn.neighbors import NearestNeighbors

path, (dimension, k, query_count) = sys.argv[1], map(int, sys.argv[2:5])
wanted = float(sys.argv[5])
points = numpy.fromfile(path, dtype="<f4").reshape(-1, dimension)
queries = points[numpy.arange(query_count) * len(points) // query_count]


def seconds_of(work, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        answer = work()
        times.append(time.process_time() - start)
    return sorted(times)[repeats // 2], answer


exact = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(points)
exact_batch, (_, truth) = seconds_of(lambda: exact.kneighbors(queries))
single_count = 10
exact_single, _ = seconds_of(
    lambda: [exact.kneighbors(queries[i : i + 1]) for i in range(single_count)], 1
)

index = hnswlib.Index(space="l2", dim=dimension)
index.init_index(max_elements=len(points), ef_construction=200, M=16, random_seed=1)
build, _ = seconds_of(lambda: index.add_items(points, num_threads=1), 1)
ef = k
while True:
    index.set_ef(ef)
    search, (found, _) = seconds_of(lambda: index.knn_query(queries, k, num_threads=1))
    recall = float(numpy.mean([len(set(a) & set(b)) / k for a, b in zip(found, truth)]))
    if recall >= wanted:
        break
    ef = math.ceil(ef * 1.1)
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "index")
    index.save_index(file)
    megabytes = os.path.getsize(file) / 1e6

print(
    json.dumps(
        {
            "build": build,
            "search": search,
            "ef": ef,
            "recall": recall,
            "megabytes": megabytes,
            "exactBatch": exact_batch,
            "exactSingle": exact_single / single_count * query_count,
        }
    )
)
