"""Web pages, served on this machine, to judge negatives, browse them and explore the store.

``graphneg serve`` creates the views, puts them into `graphneg.pages.app.Pages`, and runs that behind a
`graphneg.pages.gate.Gate`, which decides who may see the pages. A view is a class in a module of its own that
implements `graphneg.pages.app.View`. Its templates are in ``templates/`` and its scripts in ``static/``.
Nothing is loaded from another host: no script, font or image.
"""
