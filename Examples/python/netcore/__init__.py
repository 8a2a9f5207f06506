"""HTTP over libnetcore: blocking and asyncio.

    with netcore.Engine() as engine:
        print(engine.fetch("https://example.com/").text)

Callbacks run on the engine's own thread and must not block; an exception in one stops its transfer and is raised where
the result is waited for. `Engine.close()`, which `with` calls, cancels what is under way and waits for its end.
"""

from ._engine import Engine, Transfer
from ._values import Expectation, NetError, Response, Store, Trust, version

__all__ = ["Engine", "Expectation", "NetError", "Response", "Store", "Transfer", "Trust", "version"]
