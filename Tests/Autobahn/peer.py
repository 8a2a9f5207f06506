"""The peer of libnetcore in Tests/Autobahn/run: PyPI's websockets runs every STEP-th case, like socket_suite_client.c.

    peer.py URL STEP
"""

import asyncio
import sys

import websockets

AGENT = "websockets"


async def run_case(url: str) -> None:
    async with websockets.connect(url, max_size=None, compression="deflate") as socket:
        try:
            async for message in socket:
                await socket.send(message)
        except websockets.ConnectionClosed:
            pass  # The server's report has the result.


async def main(base: str, step: int) -> None:
    async with websockets.connect(f"{base}/getCaseCount") as socket:
        count = int(await socket.recv())
    for case in range(1, count + 1, step):
        await run_case(f"{base}/runCase?case={case}&agent={AGENT}")
    await run_case(f"{base}/updateReports?agent={AGENT}")


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
