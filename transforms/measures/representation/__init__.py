"""The Demographic Representation score (DR) and its confidence interval."""
