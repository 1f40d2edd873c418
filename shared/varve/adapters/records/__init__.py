"""Records in LanceDB, in a directory and on S3."""
