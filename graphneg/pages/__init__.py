"""Serve web pages on this machine, for judging and browsing negatives and for exploring the store.

``graphneg serve`` creates the views, combines them into `graphneg.pages.app.Pages`, and runs these behind a
`graphneg.pages.gate.Gate`, which decides who may see the pages. Each view is a class in its own module that
implements `graphneg.pages.app.View`. Its templates are in ``templates/`` and its scripts in ``static/``. The
pages load no scripts, fonts or images from other hosts.
"""
