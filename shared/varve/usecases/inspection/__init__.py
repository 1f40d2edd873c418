"""What a reader of a memory looks at: periods, conversations, statements, entities, users."""
