# Reference decisions of libsvm (scikit-learn) on iris; run with scikit-learn installed, prints JSON.
import json
import numpy as np
from sklearn.datasets import load_iris
from sklearn.svm import SVC, NuSVC, SVR, NuSVR, OneClassSVM

iris = load_iris()
rows = iris.data.round(3)
target = iris.target
number = rows[:, 3]
X3 = rows[:, :3]
common = dict(tol=1e-6)
out = {"rows": rows.tolist(), "labels": target.tolist()}
two = target != 2
m = SVC(kernel="rbf", gamma=0.25, C=1, **common).fit(rows[50:], target[50:])
out["rbf"] = (-m.decision_function(rows[50:])).round(6).tolist()
m = SVC(kernel="poly", gamma=0.25, coef0=1, degree=2, C=2, **common).fit(rows[50:], target[50:])
out["poly"] = (-m.decision_function(rows[50:])).round(6).tolist()
m = NuSVC(kernel="rbf", gamma=0.25, nu=0.3, **common).fit(rows[50:], target[50:])
out["nu"] = (-m.decision_function(rows[50:])).round(6).tolist()
m = OneClassSVM(kernel="rbf", gamma=0.25, nu=0.2, **common).fit(rows)
out["oneClass"] = m.decision_function(rows).round(6).tolist()
m = SVR(kernel="rbf", gamma=1 / 3, C=1, epsilon=0.1, **common).fit(X3, number)
out["regression"] = m.predict(X3).round(6).tolist()
m = NuSVR(kernel="rbf", gamma=1 / 3, C=1, nu=0.4, **common).fit(X3, number)
out["nuRegression"] = m.predict(X3).round(6).tolist()
m = SVC(kernel="rbf", gamma=0.25, C=1, **common).fit(rows, target)
out["classes"] = m.predict(rows).tolist()
print(json.dumps(out))
