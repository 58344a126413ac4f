"""Support vector machines that say how close to optimal they are."""

from importlib.metadata import version

from pegasos import reference
from pegasos._linear import PegasosClassifier
from pegasos._perceptron import PerceptronClassifier

__all__ = ["PegasosClassifier", "PerceptronClassifier", "reference"]
__version__ = version("pegasos")
