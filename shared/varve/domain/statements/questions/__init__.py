"""What a question asks for: which statements answer it, and which supersede those."""
