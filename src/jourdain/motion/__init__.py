"""Motion between events: topologies, guards, flows, gaits."""
