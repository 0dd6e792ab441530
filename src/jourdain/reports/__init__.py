"""Reports: one page of HTML that needs nothing else, to hand to colleagues; of events, gaits, motions and strikes.

`base.html.j2` and `macros.html.j2` are the look, which the page of `jourdain reproduce` shares.
"""
