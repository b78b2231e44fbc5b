"""The graph of a commit: what contains, imports, invokes and inherits what."""

from pipeline.index.graph.build import build_graph, graph_of
from pipeline.index.graph.graph import Graph

__all__ = ["Graph", "build_graph", "graph_of"]
