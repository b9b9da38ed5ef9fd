"""What looks at a corpus of files and gates nothing: init, measure, compare, coverage."""
