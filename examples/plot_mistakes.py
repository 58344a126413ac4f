"""
Which digits are mistaken for which
===================================

A Gaussian kernel on the digits that come with scikit-learn: what they look like, how they lie, and
the few that are taken for another one.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from pegasos import KernelPegasosClassifier
from pegasos.report import ConfusionDisplay, MisclassifiedDisplay, SampleImagesDisplay, TsneDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)
SampleImagesDisplay.from_data(X_train, y_train, (8, 8), per_class=5)

# %%
# Rows that are alike lie together; the map knows nothing of the labels.

TsneDisplay.from_data(X_train, y_train, max_rows=400)

# %%
# Where the mistakes are.

model = KernelPegasosClassifier(lam=1e-4, gamma=0.3, max_steps=5000, tol=None, random_state=0)
model.fit(X_train, y_train)
ConfusionDisplay.from_estimator(model, X_test, y_test)

# %%
# And what they look like.

MisclassifiedDisplay.from_estimator(model, X_test, y_test, (8, 8))
