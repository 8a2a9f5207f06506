"""The peer "websockets": 64-byte messages to a server that sends them back, with IN_FLIGHT of them in flight.

    websockets_echo.py PORT ECHOES IN_FLIGHT
"""

import asyncio
import sys

import websockets


async def main(port: int, echoes: int, in_flight: int) -> None:
    payload = bytes(64)
    async with websockets.connect(f"ws://127.0.0.1:{port}/", compression=None) as socket:
        sent = min(in_flight, echoes)
        for _ in range(sent):
            await socket.send(payload)
        for _ in range(echoes):
            message = await socket.recv()
            if sent < echoes:
                await socket.send(message)
                sent += 1


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
