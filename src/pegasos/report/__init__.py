"""Figures of fits, grids and studies, and the page that shows them.

Every figure is a display as scikit-learn has them: it holds its data, draws it with ``plot``, and
has ``ax_`` and ``figure_`` afterwards. Nothing needs matplotlib until something is drawn.

Examples
--------
>>> from pegasos import report
>>> report.figure_kinds()["confusion"]
('model', 'subset')
"""

from pegasos.report._bars import BarsDisplay
from pegasos.report._boundary import BoundaryDisplay
from pegasos.report._confusion import ConfusionDisplay
from pegasos.report._convergence import ConvergenceDisplay
from pegasos.report._curves import CurvesDisplay
from pegasos.report._draw import draw
from pegasos.report._files import save
from pegasos.report._frequencies import ClassFrequenciesDisplay
from pegasos.report._heatmap import HeatmapDisplay
from pegasos.report._index import write_all
from pegasos.report._kinds import FigureError, check_figure, figure_kinds
from pegasos.report._losses import LossesDisplay
from pegasos.report._misclassified import MisclassifiedDisplay
from pegasos.report._ratios import RatiosDisplay
from pegasos.report._samples import SampleImagesDisplay
from pegasos.report._scaling import ScalingDisplay
from pegasos.report._tsne import TsneDisplay
from pegasos.report._write import write

__all__ = [
    "BarsDisplay",
    "BoundaryDisplay",
    "ClassFrequenciesDisplay",
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "CurvesDisplay",
    "FigureError",
    "HeatmapDisplay",
    "LossesDisplay",
    "MisclassifiedDisplay",
    "RatiosDisplay",
    "SampleImagesDisplay",
    "ScalingDisplay",
    "TsneDisplay",
    "check_figure",
    "draw",
    "figure_kinds",
    "save",
    "write",
    "write_all",
]
