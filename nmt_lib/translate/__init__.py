"""Search, translator, evaluation, heatmaps, export."""
