"""The origin of the rows "hit" and "expired". Prints its port. Every connection is kept.

    /hit                  1 KiB, fresh for an hour
    /expired/KEY          1 KiB after DELAY seconds; first fresh for a second, later for an hour
    /barrier/KEY/PROCESS  responds to all PROCESSES together, when the last response for KEY has expired
    /requests/KEY         the number of requests for /expired/KEY
"""
import http.server
import sys
import threading
import time

PROCESSES = int(sys.argv[1])
DELAY = 0.2
BODY = b"x" * 1024
lock = threading.Lock()
requests = {}
responded = {}
barriers = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        kind, key = (self.path.split("/") + [""])[1:3]
        body, control = BODY, "no-store"
        if kind == "hit":
            control = "max-age=3600"
        elif kind == "expired":
            with lock:
                requests[key] = requests.get(key, 0) + 1
                control = "max-age=1" if requests[key] == 1 else "max-age=3600"
            time.sleep(DELAY)
            responded[key] = time.monotonic()
        elif kind == "barrier":
            with lock:
                barrier = barriers.setdefault(key, threading.Barrier(PROCESSES))
            barrier.wait(60)
            # Fields have whole seconds, so a response is too old after more than two.
            time.sleep(max(0, responded[key] + 2.1 - time.monotonic()))
        else:
            body = b"%d\n" % requests.get(key, 0)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", control)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
