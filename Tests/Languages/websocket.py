"""The Python package: WebSockets, blocking and with asyncio, and every way in which they end."""

import asyncio
import gc
import os
import sys
import threading
from typing import Any, Callable, List, Type, Union

import netcore

URL = os.environ["NETCORE_SOCKET"]
SECURE_URL = os.environ["NETCORE_SECURE_SOCKET"]


def raises(kind: Type[BaseException], step: Callable[[], Any], code: str = "") -> bool:
    try:
        step()
    except kind as failure:
        return not code or (getattr(failure, "code") == code and bool(getattr(failure, "message")))
    return False


def messages() -> bool:
    """Texts and bytes arrive as they were sent, also over TLS, and iterating ends when the server closes."""
    with netcore.Engine() as engine, netcore.Trust(os.environ["NETCORE_CA"]) as trust:
        for url in (URL, SECURE_URL):
            used = trust if url is SECURE_URL else None
            with engine.websocket(url + "/chat", trust=used, compression=True) as socket:
                socket.send("Malmö")
                socket.send(b"\0\xff")
                socket.send(memoryview(b"view"))
                socket.send("")
                seen = [socket.receive(), socket.receive(timeout=60), socket.receive(), socket.receive()]
                if seen != ["Malmö", b"\0\xff", b"view", ""] or socket.close_code is not None:
                    return False
            if socket.close_code != 1000:
                return False
        with engine.websocket(URL + "/news") as socket:
            news = list(socket)
        with engine.websocket(URL + "/chat/v2", protocols=["v1", "v2"], headers={"X-Own": "y"}) as socket:
            chosen, head = socket.protocol, socket.response.status
        with engine.websocket(URL + "/chat") as socket:
            none = socket.protocol
        return news == ["one", b"\0\1"] and (chosen, head, none) == ("v2", 101, None)


def operations() -> bool:
    with netcore.Engine() as engine:
        socket = engine.websocket(URL + "/chat").connect()
        took = [socket.ping(), socket.ping(b""), socket.ping(b"x" * 125)]
        timed_out = raises(netcore.TimeoutError, lambda: socket.receive(timeout=0), "NC_ERR_WAIT_TIMED_OUT")
        socket.send("after")
        arrived = socket.receive()
        socket.close(4000, "bye")
        socket.close()
        return (all(time >= 0 for time in took) and timed_out and arrived == "after"
                and (socket.close_code, socket.close_reason) == (4000, "bye")
                and raises(netcore.WebSocketClosedError, lambda: socket.send("late"), "NC_ERR_CLOSED")
                and raises(netcore.WebSocketClosedError, socket.ping)
                and raises(netcore.WebSocketClosedError, socket.receive))


def ends() -> bool:
    """Each way to end has its exception, with the close code or the response."""
    with netcore.Engine() as engine:
        full = engine.websocket(URL + "/full").connect()
        try:
            list(full)
            return False
        except netcore.WebSocketClosedError as closed:
            if (closed.close_code, closed.close_reason) != (4001, "full") or "full" not in closed.message:
                return False
        try:
            engine.websocket(URL + "/cities").connect()
            return False
        except netcore.HandshakeError as refused:
            if (refused.response.status, refused.code) != (200, "NC_ERR_UPGRADE_REFUSED"):
                return False
            if b"Oslo" not in refused.body:
                return False
        cut = engine.websocket(URL + "/cut").connect()
        left = engine.websocket(URL + "/chat").connect()
        left.cancel()
        malformed = engine.websocket(URL + "/malformed").connect()
        with engine.websocket(URL + "/chat") as socket:
            try:
                with engine.websocket(URL + "/chat") as inner:
                    raise LookupError
            except LookupError:
                pass
        return (cut.receive() == "one" and raises(netcore.ConnectError, cut.receive, "NC_ERR_CUT_SHORT")
                and cut.close_code == 1006
                and raises(netcore.ResponseError, malformed.receive, "NC_ERR_BAD_FRAME")
                and raises(netcore.ResponseError, engine.websocket(URL + "/chat/v2").connect, "NC_ERR_BAD_UPGRADE")
                and raises(netcore.ConnectError, engine.websocket("ws://127.0.0.1:1/").connect, "NC_ERR_REFUSED")
                and raises(netcore.CancelledError, left.receive, "NC_ERR_CANCELLED")
                and (socket.close_code, inner.close_code) == (1000, 1011))


def refused_arguments() -> bool:
    other: Any = object()
    with netcore.Engine() as engine:
        socket = engine.websocket(URL + "/chat").connect()
        upgrade = engine.websocket(URL, headers={"Upgrade": "x"})
        for bad in (0, -1):
            if not all(raises(ValueError, step) for step in (
                    lambda: engine.websocket(URL, ping_interval=bad), lambda: engine.websocket(URL, peer_timeout=bad),
                    lambda: engine.websocket(URL, close_timeout=bad), lambda: engine.websocket(URL, timeout=bad),
                    lambda: engine.websocket(URL, max_message_bytes=bad))):
                return False
        return (raises(TypeError, lambda: engine.websocket(URL, protocols="v1"))
                and raises(netcore.UsageError, engine.websocket(URL, protocols=["a b"]).connect)
                and raises(ValueError, engine.websocket("no url").connect, "NC_ERR_BAD_URL")
                and raises(netcore.NetError, upgrade.connect, "NC_ERR_BAD_HEADER")
                and raises(TypeError, lambda: socket.send(other))
                and raises(ValueError, lambda: socket.close(999), "NC_ERR_USAGE")
                and raises(ValueError, lambda: socket.ping(b"x" * 126), "NC_ERR_USAGE")
                and raises(ValueError, lambda: socket.close(70000))
                and raises(netcore.NetError, lambda: socket.close(1000, "x" * 124), "NC_ERR_USAGE"))


def large_messages() -> bool:
    """Sending waits for the queue, and reading is paused until the messages are received."""
    block = os.urandom(1 << 20)
    with netcore.Engine() as engine, engine.websocket(URL + "/chat") as socket:
        sent = threading.Semaphore(0)

        def send_all() -> None:
            for _ in range(60):
                socket.send(block)
                sent.release()

        sender = threading.Thread(target=send_all)
        sender.start()
        for _ in range(16):  # the queue has room for them
            sent.acquire()
        seen = [socket.receive() == block for _ in range(60)]
        sender.join()
        with engine.websocket(URL + "/chat", max_message_bytes=10) as small:
            small.send("x" * 11)
            return all(seen) and raises(netcore.ResponseError, small.receive, "NC_ERR_MESSAGE_TOO_LARGE")


def coroutines() -> bool:
    async def talk(engine: netcore.Engine, name: str) -> List[Union[str, bytes]]:
        async with engine.websocket(URL + "/chat") as socket:
            await socket.send(name)
            took = await socket.ping()
            assert took >= 0
            return [await socket.receive()]

    async def main() -> bool:
        async with netcore.Engine() as engine:
            names = [str(number) for number in range(20)]
            talks = await asyncio.gather(*(talk(engine, name) for name in names))
            async with engine.websocket(URL + "/news") as socket:
                news = [message async for message in socket]
            quiet = await engine.websocket(URL + "/quiet")
            try:
                await quiet.receive(timeout=0.01)
                return False
            except netcore.TimeoutError:
                pass
            task = asyncio.ensure_future(quiet.receive())
            await asyncio.sleep(0)
            task.cancel()
            cancelled = (await asyncio.gather(task, return_exceptions=True))[0]
            try:
                await engine.websocket(URL + "/cities")
                return False
            except netcore.HandshakeError as refused:
                status = refused.response.status
            last = asyncio.ensure_future(quiet.receive())
            await asyncio.sleep(0)
        ended = (await asyncio.gather(last, return_exceptions=True))[0]
        return (talks == [[name] for name in names] and news == ["one", b"\0\1"] and status == 200
                and isinstance(cancelled, asyncio.CancelledError) and isinstance(ended, netcore.CancelledError))

    return asyncio.run(main())


def dropped() -> bool:
    """A socket without references ends, and so does its engine."""
    from netcore import _websocket
    for _ in range(20):
        socket = netcore.Engine().websocket(URL + "/chat").connect()
        socket.send("x")
        del socket
    gc.collect()
    return not _websocket._open


def closed_engines() -> bool:
    engine = netcore.Engine()
    connector = engine.websocket(URL + "/quiet")
    socket = connector.connect()
    waiting = threading.Thread(target=engine.close)
    waiting.start()
    ended = raises(netcore.CancelledError, socket.receive)
    waiting.join()
    socket.cancel()
    return ended and raises(ValueError, connector.connect) and raises(netcore.CancelledError, lambda: socket.send("x"))


def forked() -> bool:
    """A forked child cannot use its parent's socket, and does not end it."""
    with netcore.Engine() as engine, engine.websocket(URL + "/chat") as socket:
        child = os.fork()
        if child == 0:
            refused = (raises(netcore.NetError, lambda: socket.send("x")) and raises(netcore.NetError, socket.receive)
                       and raises(netcore.NetError, socket.ping))
            socket.close()
            del socket
            os._exit(0 if refused else 1)
        socket.send("parent")
        return os.waitpid(child, 0)[1] == 0 and socket.receive() == "parent"


def main() -> int:
    code = 0
    for step in (messages, operations, ends, refused_arguments, large_messages, coroutines, dropped, closed_engines,
                 forked):
        try:
            is_good = step()
        except Exception as failure:
            is_good = False
            print(f"{step.__name__}: {failure!r}", file=sys.stderr)
        print(f"{'ok' if is_good else 'failed'} {step.__name__}", flush=True)
        code |= not is_good
    return code


if __name__ == "__main__":
    sys.exit(main())
