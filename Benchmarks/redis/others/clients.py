"""hishel (httpx) and requests-cache (requests) with a cache on a Redis server. Prints what netkit/Main.swift prints.

    clients.py hishel|requests-cache hit ORIGIN-PORT REDIS-PORT COUNT
    clients.py hishel|requests-cache expired ORIGIN-PORT REDIS-PORT KEYS RUN PROCESS
"""
import sys
import time


def hishel_get(redis_port):
    import httpx
    import redis
    from hishel import RedisStorage
    from hishel.httpx import CacheTransport

    storage = RedisStorage(redis.Redis(port=redis_port), key_prefix="bench-hishel")
    client = httpx.Client(transport=CacheTransport(httpx.HTTPTransport(), storage, rfc=True), timeout=60)

    def get(url):
        response = client.get(url)
        response.raise_for_status()
        return response.content, response.extensions["caching"]["from_cache"]

    return get


def requests_cache_get(redis_port):
    from requests_cache import CachedSession, RedisCache

    cache = RedisCache("bench-requests-cache", port=redis_port)
    session = CachedSession(backend=cache, cache_control=True)

    def get(url):
        response = session.get(url, timeout=60)
        response.raise_for_status()
        return response.content, response.from_cache

    return get


def measure_hits(get, origin, count):
    times = []
    for number in range(-(count // 10 + 1), count):
        start = time.perf_counter_ns()
        body, is_hit = get(f"{origin}/hit")
        end = time.perf_counter_ns()
        assert len(body) == 1024, "a wrong body"
        if number >= 0:
            assert is_hit, "a response is not from the cache"
            times.append((end - start) / 1e3)
    times.sort()
    print(f"p50_us={times[count // 2]} p99_us={times[count * 99 // 100]}")


def request_expired_keys(get, origin, keys, run, process):
    for key in range(keys):
        url = f"{origin}/expired/{run}-{key}"
        if process == "0":
            get(url)
        # The origin responds to all processes together, after the stored response has expired.
        get(f"{origin}/barrier/{run}-{key}/{process}")
        body, _ = get(url)
        assert len(body) == 1024, "a wrong body"


peer, task, origin_port, redis_port, amount = sys.argv[1:6]
get = {"hishel": hishel_get, "requests-cache": requests_cache_get}[peer](int(redis_port))
origin = f"http://127.0.0.1:{origin_port}"
if task == "hit":
    measure_hits(get, origin, int(amount))
else:
    request_expired_keys(get, origin, int(amount), *sys.argv[6:8])
