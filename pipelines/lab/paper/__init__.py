"""The main paper's experiment from one file: does debiased data make a less biased model?

The file's settings, the texts after each change, the two kinds of learner, and the comparison of
the arms belong here.
"""
