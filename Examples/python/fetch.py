"""Fetches, validates, caches, pins, downloads and cancels, blocking and with asyncio. See Examples/c/fetch.c."""

import asyncio
import os
import sys
import threading
from typing import Callable, List, Tuple

import netcore
from netcore import _c

PLAIN, SECURE = os.environ.get("NETCORE_PLAIN", ""), os.environ.get("NETCORE_SECURE", "")
CITIES = '[{"id": "integer", "name": "string"}]'
WRONG_PIN = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


def ends_with(name: str, step: Callable[[], object]) -> bool:
    try:
        step()
    except netcore.NetError as error:
        return error.code == name
    return False


def fetch(engine: netcore.Engine) -> bool:
    async def twice() -> bool:
        first, second = await asyncio.gather(engine.fetch(PLAIN + "/cities"), engine.fetch(PLAIN + "/cities"))
        return first.content == second.content

    with engine.fetch_blocking(PLAIN + "/cities", headers={"Accept": "application/json"}) as response:
        cities = response.raise_for_status().json()
        return len(response.content) == 47 and cities[0]["name"] == "Oslo" and asyncio.run(twice())


def validate(engine: netcore.Engine) -> bool:
    with netcore.Expectation(CITIES) as expectation:
        engine.fetch_blocking(PLAIN + "/cities", expectation=expectation)
        return ends_with("NC_ERR_SHAPE_MISMATCH", lambda: engine.fetch_blocking(PLAIN + "/broken", expectation=expectation))


def cache(engine: netcore.Engine, directory: str) -> bool:
    with netcore.Store(os.path.join(directory, "cache")) as store:
        key = (PLAIN + "/cities").encode()
        before = store.get(key)
        store.put(key, engine.fetch_blocking(PLAIN + "/cities").content, lifetime_ms=60_000)
        return before is None and store.get(key) == engine.fetch_blocking(PLAIN + "/cities").content


def pin(engine: netcore.Engine) -> bool:
    ca = os.environ["NETCORE_CA"]
    with netcore.Trust(ca, {"localhost": [os.environ["NETCORE_PIN"]]}) as right:
        is_right = engine.fetch_blocking(SECURE + "/cities", trust=right).status == 200
    with netcore.Trust(ca, {"localhost": [WRONG_PIN]}) as wrong:
        return is_right and ends_with("NC_ERR_PIN_MISMATCH", lambda: engine.fetch_blocking(SECURE + "/cities", trust=wrong))


def download(engine: netcore.Engine, directory: str) -> bool:
    seen = []
    path = engine.download_blocking(PLAIN + "/film", os.path.join(directory, "film"),
                           on_progress=lambda received, total: seen.append((received, total)))
    return os.path.getsize(path) == 1_000_000 and seen[-1] == (1_000_000, 1_000_000)


def cancel(engine: netcore.Engine) -> bool:
    transfer = engine.start(PLAIN + "/slow", on_chunk=lambda piece: None)
    transfer.wait_for_head()
    other = threading.Thread(target=transfer.cancel)
    other.start()
    is_cancelled = ends_with("NC_ERR_CANCELLED", transfer.result)
    other.join()

    def refuse(piece: bytes) -> None:
        raise ArithmeticError("enough")

    try:
        engine.fetch_blocking(PLAIN + "/slow", on_chunk=refuse)
    except ArithmeticError:
        return is_cancelled and asyncio.run(cancelled_task(engine))
    return False


async def cancelled_task(engine: netcore.Engine) -> bool:
    transfer = engine.start(PLAIN + "/slow")
    task = asyncio.ensure_future(transfer.wait())
    await asyncio.get_running_loop().run_in_executor(None, transfer.wait_for_head)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return True
    return False


def main(directory: str) -> int:
    failures = 0
    with netcore.Engine() as engine:
        steps: List[Tuple[str, Callable[[], bool]]] = [
            ("fetch", lambda: fetch(engine)), ("validate", lambda: validate(engine)),
            ("cache", lambda: cache(engine, directory)), ("pin", lambda: pin(engine)),
            ("download", lambda: download(engine, directory)), ("cancel", lambda: cancel(engine))]
        for name, step in steps:
            try:
                is_right, why = step(), ""
            except Exception as error:
                is_right, why = False, f": {type(error).__name__}: {error}"
            failures += not is_right
            print(("ok " if is_right else "failed ") + name + why)
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: fetch.py DIRECTORY")
    if sys.argv[1] == "--layout":
        print(_c.layout())
        sys.exit(0)
    sys.exit(main(sys.argv[1]))
