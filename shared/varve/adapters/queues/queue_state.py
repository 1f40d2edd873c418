"""The state of an SQS queue and its dead-letter queue."""

from varve.adapters.aws_errors import translate_aws_errors
from varve.adapters.queues.sqs import SqsQueue
from varve.ports.surroundings import QueueState

_COUNT = "ApproximateNumberOfMessages"


def read_queue_state(queue: SqsQueue) -> QueueState:
    """Return a queue's state. Raises Misconfigured: no such queue, no dead-letter queue."""
    own = _read_attributes(queue, queue.url)
    letters = _read_attributes(queue, queue.dead_letter_url)
    return QueueState(
        is_fifo=own.get("FifoQueue") == "true",
        waiting=int(own[_COUNT]),
        letters=int(letters[_COUNT]),
    )


def _read_attributes(queue: SqsQueue, url: str) -> dict[str, str]:
    with translate_aws_errors(f"queue {url}"):
        answer = queue.client.get_queue_attributes(
            QueueUrl=url, AttributeNames=["All"]
        )
    return dict(answer["Attributes"])
