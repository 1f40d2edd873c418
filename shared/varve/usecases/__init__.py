"""What Varve does: each use case is a function of a session and a request.

A package has the steps of one verb, and the module of its name begins it. The modules
beside the packages serve several verbs.
"""
