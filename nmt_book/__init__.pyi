# What several pages use, and the file that explains it. A chapter's own exercises,
# measurements and pictures are in its folder: from nmt_book.chapter04 import check.
# fmt: off

from .yours.try_it import try_it as try_it
from .yours.translator import MyTransformer as MyTransformer
from .yours.translator import your_functions as your_functions
from .yours.fault import plant as plant
from .exercise.progress import progress as progress
from .loop import OwnUpdate as OwnUpdate
from .notebook import show_source as show_source
from .notebook import compare_guess as compare_guess
from .notebook import long_and_short as long_and_short
from .pictures.grids import new_figure as new_figure
from .pictures.grids import draw_grid as draw_grid
from .pictures.grids import plot_grids as plot_grids
from .pictures.grids import plot_tables as plot_tables
from .pictures.charts import plot_bars as plot_bars
from .pictures.charts import plot_lines as plot_lines
from .pictures.charts import plot_hists as plot_hists
from .pictures.boxes import plot_words as plot_words
from .pictures.boxes import plot_boxes as plot_boxes
from .pictures.machine import machine as machine
from .pictures.viewer import view_attention as view_attention
from .pictures.explore import explore as explore
from .web.play import play as play

__all__: list[str]
