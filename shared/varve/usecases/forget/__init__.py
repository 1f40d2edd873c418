"""Requests to forget: find the statements, propose them, hide them, erase them."""
