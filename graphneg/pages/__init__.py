"""Pages for people, served from this machine: negatives are judged, looked through and drawn in a browser.

``graphneg serve`` makes `Pages` of its views, wraps them in a `gate.Gate` and runs them (`app.serve`). A view
is one module and one class that fits `app.View`; its templates and scripts lie in ``templates/`` and
``static/``.
Nothing comes from elsewhere: no script, font or picture of another host.
"""
