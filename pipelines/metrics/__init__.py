"""How metrics reach Prometheus: scraped from a run or from outputs, as a file, or pushed.

What the metrics are is in `gates.metrics`.
"""
