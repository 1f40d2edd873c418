"""The `Objects` port over a directory or an S3 prefix, through obstore."""
