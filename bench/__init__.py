"""Benchmarks: what is measured side by side on one machine. Not part of the product."""
