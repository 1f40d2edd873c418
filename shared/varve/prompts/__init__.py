"""The prompts, one module for each task, with the shape of the model's reply.

The docstrings and names of the reply classes are part of the JSON schema that is sent to
the model: to change one is to change the prompt.
"""
