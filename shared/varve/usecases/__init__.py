"""What Varve does: each use case is a function of a session and a request.

A package has one task with its steps: `search/search.py` answers a search, and what it
calls stands beside it. The modules beside the packages serve several tasks.
"""
