#!/bin/sh
# As in the real base: the command is the handler; the runtime client serves it.
set -eu
export _HANDLER="$1"
export PYTHONPATH="${LAMBDA_TASK_ROOT}:${LAMBDA_RUNTIME_DIR}"
exec python3 -m awslambdaric "$1"
