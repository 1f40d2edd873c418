"""The pages: each module gathers the values of its templates."""
