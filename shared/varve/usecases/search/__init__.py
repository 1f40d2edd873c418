"""Answer `search_memory`: rank, browse, and log what was asked."""
