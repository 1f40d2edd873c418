"""Memory inside agent frameworks: one thin module each, over `varve.Memory`.

Each module needs the extra of its name, such as `pip install 'varve-memory[langchain]'`.
"""
