"""Python source as choosing compares it: units, their canonical forms, their pieces. Pure.

Source: choosing.md §4. Nothing is executed; texts that are too large or too deep are refused.
"""
