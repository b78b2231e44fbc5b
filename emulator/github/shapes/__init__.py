"""Records as GitHub's JSON: full objects in the shape of GitHub's own description."""
