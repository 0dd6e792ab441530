"""The four papers, recomputed: `jourdain reproduce`.

[WC] L.-S. Wang and W.-T. Chou, The analysis of constrained impulsive motion, 2003.
[FK-a], [FK-b], [FK-c] J. M. Font-Llagunes and J. Kövecses: non-ideal constraints on a pantograph; walker and
pantograph; the short version of both. `printed/` holds the numbers that they print, as text.
"""
