"""Interventions on the words of a group, and mining of the sentences of which a model leans most.

After Thakur et al. 2023, “Language Models Get a Gender Makeover: Mitigating Gender Bias with
Few-Shot Data Interventions”. `sentences` finds the words, `interventions` replaces them, `scoring`
asks a model, `top` keeps the highest scores.
"""
