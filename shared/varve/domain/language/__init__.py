"""What Varve knows of languages: tokens, stop words, names, dates. The words are data, see `data/`."""
