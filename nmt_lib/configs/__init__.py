"""The named configs: a YAML file for each experiment, with a comment on every key, and what reads them."""
