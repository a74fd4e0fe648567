"""Neural machine translation with the original Transformer, small enough to read in an
afternoon.

A sentence passes: text → ``Tokenizer.encode`` → batches → masks → ``Transformer`` →
logits → loss, and back through ``Translator``. ``__init__.pyi`` lists every public
name with its file. Names are loaded when first used: importing costs next to nothing.
"""

import warnings

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# Jupyter without ipywidgets shows plain progress bars; nobody needs to be told.
warnings.filterwarnings("ignore", "IProgress not found")
