#!/usr/bin/env python3
"""The client that cache-tests.mjs uses to test the cache of the Python package. See programs/cache_suite_client.c.

    NETCORE_LIBRARY=… PYTHONPATH=bindings/python cache_client.py memory | disk DIRECTORY
"""

import asyncio
import json
import sys
from typing import Any, Dict

import netcore


async def perform(engine: netcore.Engine, command: Dict[str, Any]) -> None:
    result: Dict[str, Any] = {"id": command["id"]}
    try:
        response = await engine.fetch(command["url"], method=command["method"], headers=command["headers"],
                                      data=command.get("body"), follow_redirects=command.get("follows", True))
        result.update(status=response.status, headers=response.headers.multi_items(), body=response.text)
    except Exception as failure:
        result["error"] = f"{type(failure).__name__}: {failure}"
    print(json.dumps(result), flush=True)


async def main(cache: netcore.Cache) -> None:
    loop = asyncio.get_running_loop()
    tasks = []
    async with netcore.Engine(cache=cache) as engine:
        while True:
            line = await loop.run_in_executor(None, sys.stdin.readline)
            if not line:
                break
            tasks.append(asyncio.ensure_future(perform(engine, json.loads(line))))
        await asyncio.gather(*tasks)


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["memory"] and len(words) == 1:
        asyncio.run(main(netcore.Cache()))
    elif words[:1] == ["disk"] and len(words) == 2:
        asyncio.run(main(netcore.Cache(words[1])))
    else:
        sys.exit("usage: cache_client.py memory | disk DIRECTORY")
