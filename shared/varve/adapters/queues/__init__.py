"""The ports `Queue`, `DeadLetters` and `DeadLetterBox` over SQS, and `Queue` inline."""
