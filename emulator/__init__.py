"""Stand-ins for GitHub and the model API: for the demo, tests and benchmarks only."""
