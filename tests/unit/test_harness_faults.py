"""The fault harness's proxy: which server gets a request."""

from __future__ import annotations

from contextlib import ExitStack
from urllib.request import Request, urlopen

import pytest

from tests.support.fault_proxy import FaultProxy
from tests.support.loopback import LoopbackHandler, LoopbackServer


class Moto(LoopbackHandler):
    def get(self) -> None:
        self.answer(200, b"moto")


class Gateway(LoopbackHandler):
    def get(self) -> None:
        self.answer(200, b"gateway")


@pytest.mark.parametrize(
    ("service", "server"), [("s3", b"gateway"), ("sqs", b"moto")]
)
def test_a_request_signed_for_s3_goes_to_the_server_of_s3(
    service: str, server: bytes
) -> None:
    signed = f"AWS4-HMAC-SHA256 Credential=testing/20260302/us-east-1/{service}/aws4_request"
    with ExitStack() as opened:
        moto, gateway = (
            opened.enter_context(LoopbackServer(each))
            for each in (Moto, Gateway)
        )
        proxy = opened.enter_context(
            FaultProxy("WriteFunction", moto.address, gateway.address)
        )
        request = Request(proxy.endpoint, headers={"Authorization": signed})
        with urlopen(request) as reply:
            assert reply.read() == server
