"""Misuse of the Python package: each step ends, raises an exception if it must, and leaks nothing."""

import asyncio
import faulthandler
import gc
import os
import signal
import socket
import sys
import threading
import weakref
from typing import Any, Callable, List, Type

import netcore
from netcore import _engine

PLAIN = os.environ["NETCORE_PLAIN"]
SECONDS = 60


def raises(kind: Type[BaseException], step: Callable[[], Any]) -> bool:
    try:
        step()
    except kind:
        return True
    return False


def thrower(failure: BaseException) -> Callable[..., None]:
    def throw(*arguments: Any) -> None:
        raise failure

    return throw


def closed(directory: str) -> bool:
    """A closed object raises an error, and is never treated like None."""
    engine, expectation = netcore.Engine(), netcore.Expectation()
    response = engine.fetch_blocking(PLAIN + "/cities")
    transfer = engine.start(PLAIN + "/slow")
    for owner in (response, expectation):
        owner.close()
        owner.close()
    refused = raises(ValueError, lambda: engine.fetch_blocking(PLAIN + "/cities", expectation=expectation))
    engine.close()
    engine.close()
    transfer.cancel()
    return (refused and raises(ValueError, lambda: response.content) and raises(netcore.NetError, transfer.result)
            and raises(ValueError, lambda: engine.fetch_blocking(PLAIN + "/cities")) and not _engine._waiting)


def types(directory: str) -> bool:
    with netcore.Engine() as engine, engine.fetch_blocking(PLAIN + "/cities") as response:
        url = PLAIN + "/cities"
        calls: List[Callable[[], Any]] = [
            lambda: engine.fetch_blocking(url.encode()), lambda: engine.fetch_blocking(url, data=5), lambda: engine.fetch_blocking(url, data=b"", json={}),
            lambda: engine.fetch_blocking(url, trust=response), lambda: engine.fetch_blocking(url, trust=""),
            lambda: engine.fetch_blocking(url, expectation=response), lambda: engine.fetch_blocking(url, timeout="5"),
            lambda: engine.fetch_blocking(url, method=b"GET"), lambda: netcore.Expectation(b"{}"),
            lambda: netcore.Trust(pins={"localhost": "sha256/one"}),
        ]
        values: List[Callable[[], Any]] = [
            lambda: engine.fetch_blocking(url, timeout=-1), lambda: engine.fetch_blocking(url, timeout=1 << 32),
            lambda: engine.fetch_blocking(url, headers={"X": "\u2603"}), lambda: netcore.Store(os.path.join(directory, "a\0b")),
        ]
        echoed = engine.fetch_blocking(url, method="POST", data=bytearray(b"mutable")).status == 200
        return (echoed and all(raises(TypeError, call) for call in calls)
                and all(raises(ValueError, call) for call in values) and not _engine._waiting)


def callbacks(directory: str) -> bool:
    """An exception in a callback is raised by the call that waits for the result, blocking and with asyncio."""
    with netcore.Engine() as engine:
        def fetch(failure: BaseException) -> Any:
            return engine.fetch_blocking(PLAIN + "/slow", on_chunk=thrower(failure))

        async def later(failure: BaseException) -> Any:
            return await asyncio.wait_for(engine.fetch(PLAIN + "/slow", on_chunk=thrower(failure)), SECONDS)

        path = os.path.join(directory, "refused")
        return (raises(LookupError, lambda: fetch(LookupError())) and raises(SystemExit, lambda: fetch(SystemExit()))
                and raises(RuntimeError, lambda: fetch(StopIteration()))
                and raises(RuntimeError, lambda: asyncio.run(later(StopIteration())))
                and raises(LookupError, lambda: asyncio.run(later(LookupError())))
                and raises(LookupError, lambda: engine.download_blocking(PLAIN + "/slow", path, on_progress=thrower(LookupError()))))


def waiting_callbacks(directory: str) -> bool:
    """The event loop thread cannot wait for itself. Closing an engine on it does not wait."""
    engine = netcore.Engine()
    refused = raises(RuntimeError, lambda: engine.fetch_blocking(
        PLAIN + "/slow", on_chunk=lambda piece: engine.fetch_blocking(PLAIN + "/cities")))
    ended = raises(netcore.NetError, lambda: engine.fetch_blocking(PLAIN + "/slow", on_chunk=lambda piece: engine.close()))
    return refused and ended and raises(ValueError, lambda: engine.fetch_blocking(PLAIN + "/cities"))


def head(directory: str) -> bool:
    """Waiting for a head ends if there is none."""
    with netcore.Engine() as engine, socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # reserves a port on which no socket listens
        transfer = engine.start(f"http://127.0.0.1:{deaf.getsockname()[1]}/")
        transfer.wait_for_head()
        return raises(netcore.NetError, transfer.result)


def garbage(directory: str) -> bool:
    """An engine without references is freed, and its transfers end, while their bodies arrive."""
    for _ in range(20):
        engine = netcore.Engine()
        reference = weakref.ref(engine)
        for _ in range(5):
            engine.start(PLAIN + "/slow", on_chunk=lambda piece: gc.collect() and None)
            engine.start(PLAIN + "/film")
        del engine
        gc.collect()
        if reference() is not None:
            return False
    return not _engine._waiting


def threads(directory: str) -> bool:
    """Many threads send, read and cancel while other threads close the objects that they use."""
    faults: List[BaseException] = []
    for _ in range(5):
        engine = netcore.Engine()
        responses = [engine.fetch_blocking(PLAIN + "/film") for _ in range(8)]

        def ask(number: int) -> None:
            try:
                for _ in range(30):
                    responses[number].content
                    transfer = engine.start(PLAIN + "/cities")
                    if number % 2:
                        transfer.cancel()
                    transfer.result()
            except (ValueError, netcore.NetError):
                pass
            except BaseException as fault:
                faults.append(fault)

        def close(number: int) -> None:
            responses[number].close()
            if number == 7:
                engine.close()

        askers = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        closers = [threading.Thread(target=close, args=(number,)) for number in range(8)]
        for thread in askers + closers:
            thread.start()
        for thread in askers + closers:
            thread.join()
    return not faults and not _engine._waiting


def tasks(directory: str) -> bool:
    """Tasks can be cancelled at any time, and an asyncio loop can end before its transfers."""
    with netcore.Engine() as engine:
        async def cancelled() -> bool:
            sent = [asyncio.ensure_future(engine.fetch(PLAIN + ("/slow" if number % 20 == 1 else "/cities")))
                     for number in range(60)]
            for number, task in enumerate(sent):
                if number % 3 == 0:
                    task.cancel()
                await asyncio.sleep(0)
            await asyncio.gather(*(sent[number] for number in range(60) if number % 3 and number % 20 != 1))
            for task in sent:
                task.cancel()
            await asyncio.gather(*sent, return_exceptions=True)
            return True

        async def left() -> bool:
            asyncio.ensure_future(engine.fetch(PLAIN + "/slow"))
            await asyncio.sleep(0)
            return True

        is_right = asyncio.run(cancelled()) and asyncio.run(left())
    return is_right and not _engine._waiting


def forked(directory: str) -> bool:
    """A forked child does not affect its parent's engine, and ends."""
    with netcore.Engine() as engine:
        response, transfer = engine.fetch_blocking(PLAIN + "/cities"), engine.start(PLAIN + "/slow")
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS // 2)  # the parent's watchdog thread does not exist in the child
            ended = raises(ValueError, lambda: engine.fetch_blocking(PLAIN + "/cities"))
            transfer.wait_for_head()
            ended = (ended and raises(ValueError, transfer.result)
                     and raises(ValueError, lambda: asyncio.run(transfer.wait())))
            del response, transfer, engine
            gc.collect()
            _engine._close_all()
            os._exit(0 if ended else 1)
        return os.waitpid(child, 0)[1] == 0 and len(response.content) == 47 and engine.fetch_blocking(PLAIN + "/cities").status == 200


def main(directory: str) -> int:
    failures = 0
    for step in (closed, types, callbacks, waiting_callbacks, head, garbage, threads, tasks, forked):
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        is_right = step(directory)
        failures += not is_right
        print(("ok " if is_right else "failed ") + step.__name__, flush=True)
    faulthandler.cancel_dump_traceback_later()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
