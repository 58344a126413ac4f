"""Studies: grids of models on a data set, written down in a file and run cell by cell.

A study file names data, models, grids and the values that others have reported. :func:`run`
computes it, in a way that survives being killed at any moment, and :class:`Results` are what came
of it.

Examples
--------
>>> from pegasos import studies
>>> studies.load("digits").repeats
1
"""

from pegasos.studies._compare import Comparison
from pegasos.studies._errors import StudyError
from pegasos.studies._file import Study, load
from pegasos.studies._find import names, text_of
from pegasos.studies._results import Refitted, Results, open_results
from pegasos.studies._runner import Progress, run

__all__ = [
    "Comparison",
    "Progress",
    "Refitted",
    "Results",
    "Study",
    "StudyError",
    "load",
    "names",
    "open_results",
    "run",
    "text_of",
]
