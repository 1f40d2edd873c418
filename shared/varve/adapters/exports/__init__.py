"""The ports `ExportWriter` and `ExportReader` over a directory, and bulk transfers."""
