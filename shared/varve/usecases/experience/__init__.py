"""Use cases of experience: episodes, outcomes, lessons, prior answers, research logs."""
