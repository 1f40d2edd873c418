"""What a memory is made of, as a person uses it: graph, experience, lessons, answers, research."""
