"""The Python of the default image, which versions in repositories are compared with."""

IMAGE_PYTHON = "3.11"
