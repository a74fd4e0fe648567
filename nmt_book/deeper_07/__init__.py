"""The page `deeper/07_what_went_wrong.ipynb`: its exercises, broken scripts, tables."""
