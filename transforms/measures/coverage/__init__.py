"""Coverage: which intersections of attributes' values are too rare, and how to mend that.

After IntersectionRE (seed 003 of the design) and Asudeh, Jin and Jagadish, “Assessing and remedying
coverage for a given dataset” (ICDE 2019). Records are counted in tables that can be added; a search
finds the most general patterns that are too rare; a plan says which additions are the cheapest.
"""
