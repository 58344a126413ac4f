# Ten digits, one linear SVM each, certified: the numbers that `make demo` ends with.
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from pegasos import PegasosClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0, stratify=y)

model = PegasosClassifier(lam=1e-3, random_state=0).fit(X_train, y_train)

print(f"digits: {len(X_train)} training rows, {X_train.shape[1]} features, {model.n_iter_} epochs")
print("class  objective  dual bound        gap")
for label, objective, dual, gap in zip(
    model.classes_, model.objective_, model.dual_objective_, model.duality_gap_, strict=True
):
    print(f"{label:5d}  {objective:9.5f}  {dual:10.5f}  {gap / objective:8.2%}")
print(f"accuracy on {len(X_test)} test rows: {model.score(X_test, y_test):.2%}")
