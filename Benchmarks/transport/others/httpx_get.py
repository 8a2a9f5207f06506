"""GETs with httpx.AsyncClient: one task per request in flight, over persistent connections."""

import asyncio
import resource
import sys
import time

import httpx


def parse(words):
    options = {"--url": None, "--body-bytes": 0, "--in-flight": 1, "--requests": 1, "--warm-up": 0}
    if len(words) % 2:
        sys.exit("a value is missing")
    for name, value in zip(words[::2], words[1::2]):
        if name not in options:
            sys.exit(f"unknown option {name}")
        options[name] = value if name == "--url" else int(value)
    if options["--url"] is None:
        sys.exit("--url is missing")
    return options


async def run(client, options, requests):
    left, failures = requests, 0

    async def work():
        nonlocal left, failures
        while left > 0:
            left -= 1
            try:
                response = await client.get(options["--url"])
                failures += response.status_code != 200 or len(response.content) != options["--body-bytes"]
            except httpx.HTTPError:
                failures += 1

    await asyncio.gather(*(work() for _ in range(options["--in-flight"])))
    return failures


def usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss


async def main():
    options = parse(sys.argv[1:])
    count = options["--in-flight"]
    limits = httpx.Limits(max_connections=count, max_keepalive_connections=count)
    async with httpx.AsyncClient(limits=limits, trust_env=False) as client:
        failures = await run(client, options, options["--warm-up"])
        begin, (cpu_before, _) = time.monotonic(), usage()
        failures += await run(client, options, options["--requests"])
        cpu, peak = usage()
    print(f"peer=httpx in_flight={count} requests={options['--requests']} cpu_s={cpu - cpu_before:.6f} "
          f"wall_s={time.monotonic() - begin:.6f} peak_rss_kb={peak} connections=- failures={failures}")


asyncio.run(main())
