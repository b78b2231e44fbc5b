"""One module per published method; each reads like its paper's figure."""
