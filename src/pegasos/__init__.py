"""Support vector machines that say how close to optimal they are."""

from importlib.metadata import version

from pegasos import kernels, reference
from pegasos._kernel import KernelPegasosClassifier
from pegasos._kernel_perceptron import KernelPerceptronClassifier
from pegasos._linear import PegasosClassifier
from pegasos._perceptron import PerceptronClassifier

__all__ = [
    "KernelPegasosClassifier",
    "KernelPerceptronClassifier",
    "PegasosClassifier",
    "PerceptronClassifier",
    "kernels",
    "reference",
]
__version__ = version("pegasos")
