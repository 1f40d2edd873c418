"""AWS credentials: those of the process, and those of a role for one agent."""
