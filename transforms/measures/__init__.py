"""What a pane is measured by: representation, stereotypes, coverage, bias score, a folder each."""
