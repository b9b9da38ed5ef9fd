"""What is asked of an LLM: versioned templates with their examples, the JSON schemas of their
answers, and the loader.

Who asks, and what is done with an answer, belongs in transforms."""
