"""The verbs with their parts: what Lambdas, the command line and the Python API all call."""
