"""Statements: what records say, whichever record says it.

Each package knows only those above it in this list:

    texts        one text, read by itself
    pairs        how two texts relate
    stores       the statements of one store, paired before any question is asked
    questions    which statements answer a question, and which supersede those
    standings    which statements still hold
    forgetting   requests to forget, and the statements that they name
    answers      the rows of an answer, each statement in one place
"""
