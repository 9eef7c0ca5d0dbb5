"""How a mechanism is chosen: m by the paper's algorithms, anchors, rows. `bipartite.design` names what is public."""
