"""What can be touched: of each thing a ``.js`` that draws, and a ``.py`` that says what
its state is and gives its numbers where no script runs."""
