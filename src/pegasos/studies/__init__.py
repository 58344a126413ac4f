"""Studies: grids of models on a data set, written down in a file and run cell by cell."""
