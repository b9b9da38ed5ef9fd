"""The page on which people decide about the words of a draft: a word a page, the keyboard alone.

What a decision is and how it is kept belongs in transforms/lab/word_lists. Who may ask belongs in
`pipelines.pages.board.security`.
"""
