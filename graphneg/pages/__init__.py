"""Serve web pages on this machine, for judging and browsing negatives and for exploring the store.

The web application consists of views, such as one for judging negatives. ``graphneg serve`` creates the views
and combines them into a `graphneg.pages.app.Pages` object. It serves this object behind a
`graphneg.pages.gate.Gate`, which checks whether a visitor may see the pages. Each view is a class in its own
module that implements `graphneg.pages.app.View`. Its templates are in ``templates/`` and its scripts in
``static/``. The pages load no scripts, fonts or images from other hosts.
"""
