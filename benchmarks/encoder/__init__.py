"""Fits the cross-encoder of `varve.domain.statements.encoder`."""
