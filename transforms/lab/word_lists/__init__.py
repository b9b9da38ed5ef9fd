"""Makes word lists: counts words in a corpus, completes, compares, proposes, checks and reviews.

After the main paper, section 4.2.1 and Algorithm 1. A word list that is done is read by
`evenflow.wordlists`.
"""
