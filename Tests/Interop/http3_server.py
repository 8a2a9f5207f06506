"""An HTTP/3 server over aioquic whose paths are scripted faults, behind a relay that loses datagrams.

usage: http3_server.py PORT CERTIFICATE KEY [OPTION=VALUE...]

UDP: the relay, and the HTTP/3 server behind it. TCP: HTTP/1.1 over TLS with the same certificate; it serves /idle, which
answers when no QUIC connection is open, /forgotten, which answers when /forget has taken effect, /block and /unblock, which switch the relay, and for other paths "tcp".

loss=N           the relay loses N of 100 datagrams in each direction
block_after=N    the relay loses everything after N bytes from the server
retry=1          the server requires a Retry packet (RFC 9000, 8.1.2)
version=N        the server supports only this QUIC version, 1 or 2
idle=SECONDS     max_idle_timeout
window=BYTES     flow control limits of the connection and its streams
alt_svc=FIELD    an Alt-Svc field of the responses over TCP; PORT stands for the server's port
"""
import asyncio
import random
import ssl
import sys
from urllib.parse import unquote

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.asyncio.server import QuicServer
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import H3_ALPN, ErrorCode, FrameType, H3Connection, encode_frame
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated
from aioquic.quic.packet import QuicProtocolVersion

PATTERN = bytes(range(97, 123))
SLICE = 65536


def pattern(start, length):
    first = start % 26
    return (PATTERN * (length // 26 + 2))[first : first + length]


def integer(first, bits, value):
    """An integer with a prefix of some bits (RFC 7541, 5.1)."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def section(text):
    """A field section of literal lines (RFC 9204, 4.5.6) from NAME=VALUE, separated by U+001F. Nothing is checked."""
    out = b"\x00\x00"
    for line in text.split("\x1f"):
        name, value = line.encode("latin-1").split(b"=", 1)
        out += integer(0x20, 3, len(name)) + name + integer(0, 7, len(value)) + value
    return out


class Relay(asyncio.DatagramProtocol):
    """Passes datagrams between clients and the server. Each client has a socket of its own to the server."""

    def __init__(self, server_port, options):
        self.server_port = server_port
        self.loss = int(options.get("loss", 0))
        self.block_after = int(options.get("block_after", 0))
        self.random = random.Random(1)
        self.sent = 0
        self.is_blocked = False
        self.links = {}

    def connection_made(self, transport):
        self.transport = transport

    def is_lost(self):
        return self.is_blocked or self.random.randrange(100) < self.loss

    def datagram_received(self, data, client):
        if self.is_lost():
            return
        link = self.links.get(client)
        if link is None:
            link = self.links[client] = Link(self, client)
            asyncio.ensure_future(link.open(data))
        else:
            link.send(data)

    def send_back(self, data, client):
        self.sent += len(data)
        if self.block_after and self.sent > self.block_after:
            self.is_blocked = True
        if not self.is_lost():
            self.transport.sendto(data, client)


class Link(asyncio.DatagramProtocol):
    def __init__(self, relay, client):
        self.relay, self.client, self.transport, self.waiting = relay, client, None, []

    async def open(self, data):
        self.waiting.append(data)
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: self, remote_addr=("127.0.0.1", self.relay.server_port))

    def connection_made(self, transport):
        self.transport = transport
        for data in self.waiting:
            transport.sendto(data)

    def send(self, data):
        if self.transport is None:
            self.waiting.append(data)
        else:
            self.transport.sendto(data)

    def datagram_received(self, data, address):
        self.relay.send_back(data, self.client)


class Server(QuicConnectionProtocol):
    open_count = 0
    all_closed = None
    forgotten = None
    relay = None
    flaky_status = 503

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.http = None
        self.requests = {}  # by stream: method, path, fields, body
        self.served = 0
        self.waiting = []

    # --- events ---

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
            Server.open_count += 1
            Server.all_closed.clear()
        if isinstance(event, ConnectionTerminated) and self.http is not None:
            Server.open_count -= 1
            if Server.open_count == 0:
                Server.all_closed.set()
        if self.http is None:
            return
        for one in self.http.handle_event(event):
            if isinstance(one, HeadersReceived):
                self.take_head(one)
            elif isinstance(one, DataReceived):
                self.take_data(one)

    def take_head(self, event):
        if event.stream_id in self.requests:  # trailers
            if event.stream_ended:
                self.respond(event.stream_id)
            return
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers]
        heads = dict(fields)
        self.requests[event.stream_id] = [heads[":method"], heads[":path"], fields, b"", 0]
        if heads[":path"].startswith("/early"):
            self.head(event.stream_id, 413, {"content-length": "5"})
            self.data(event.stream_id, b"early", True)
            self._quic.stop_stream(event.stream_id, ErrorCode.H3_NO_ERROR)
        elif heads[":path"] == "/continue":
            self.head(event.stream_id, 100)
        elif event.stream_ended:
            self.respond(event.stream_id)

    def take_data(self, event):
        request = self.requests.get(event.stream_id)
        if request is None:
            return
        if request[1] == "/block_upload":
            Server.relay.is_blocked = True
        if request[1] in ("/count", "/block_upload"):
            request[4] += len(event.data)
        else:
            request[3] += event.data
        if event.stream_ended and not request[1].startswith("/early"):
            self.respond(event.stream_id)

    # --- responses ---

    def head(self, stream, status, fields=(), end=False):
        lines = [(b":status", str(status).encode())]
        lines += [(name.encode(), value.encode("latin-1")) for name, value in dict(fields).items()]
        self.http.send_headers(stream, lines, end)
        self.transmit()

    def raw_head(self, stream, lines):
        """A head of any size, and the end of the stream."""
        head = section("\x1f".join([":status=200", *lines]))
        self._quic.send_stream_data(stream, encode_frame(FrameType.HEADERS, head), end_stream=True)
        self.transmit()

    def data(self, stream, data, end=False):
        self.http.send_data(stream, data, end)
        self.transmit()

    def plain(self, stream, text, fields=()):
        body = text if isinstance(text, bytes) else text.encode("latin-1")
        self.head(stream, 200, {"content-length": str(len(body)), **dict(fields)})
        self.data(stream, body, True)

    def control(self, frame_type, payload):
        self._quic.send_stream_data(self.http._local_control_stream_id, encode_frame(frame_type, payload))
        self.transmit()

    def goaway(self, stream):
        self.control(FrameType.GOAWAY, encode_uint_var(stream))

    def respond(self, stream):
        method, path, fields, body, counted = self.requests[stream]
        words = path.split("?")[0].split("/")
        handler = getattr(self, "serve_" + words[1].replace("-", "_"), None)
        self.served += 1
        if handler is None:
            self.head(stream, 404, {"content-length": "0"}, True)
        else:
            handler(stream, [unquote(word) for word in words[2:]])

    def serve_hello(self, stream, words):
        self.plain(stream, "hello", {"x-connection": str(id(self)), "x-served": str(self.served)})

    def serve_method(self, stream, words):
        request = self.requests[stream]
        if request[0] == "HEAD":
            self.head(stream, 200, {"content-length": "5", "x-method": "HEAD"}, True)
        else:
            self.plain(stream, request[0], {"x-method": request[0]})

    def serve_echo(self, stream, words):
        self.plain(stream, self.requests[stream][3])

    serve_continue = serve_echo

    def serve_count(self, stream, words):
        self.plain(stream, str(self.requests[stream][4]))

    def serve_fields(self, stream, words):
        self.plain(stream, "".join(f"{name}: {value}\n" for name, value in self.requests[stream][2]))

    def serve_status(self, stream, words):
        self.head(stream, int(words[0]), {}, True)

    def serve_flaky(self, stream, words):
        """The first response of the server is a 503."""
        status, Server.flaky_status = Server.flaky_status, 200
        self.head(stream, status, {"content-length": "0"}, True)

    def serve_to(self, stream, words):
        """/to/STATUS/LOCATION"""
        self.head(stream, int(words[0]), {"location": words[1], "content-length": "0"}, True)

    def serve_set(self, stream, words):
        """/set/NAME/VALUE: a field"""
        self.plain(stream, "set", {words[0]: words[1]})

    def serve_bytes(self, stream, words):
        asyncio.ensure_future(self.send_bytes(stream, int(words[0]), len(words) > 1))

    async def send_bytes(self, stream, length, is_endless):
        self.head(stream, 200, {} if is_endless else {"content-length": str(length)})
        for start in range(0, length, SLICE):
            part = pattern(start, min(SLICE, length - start))
            while len(self._quic._streams[stream].sender._buffer) > 4 * SLICE:
                await asyncio.sleep(0.002)
            self.data(stream, part, start + SLICE >= length)

    def serve_trailers(self, stream, words):
        self.head(stream, 200, {"trailer": "x-sum"} if words else {"content-length": "4"})
        self.data(stream, b"body")
        self.http.send_headers(stream, [(b"x-sum", b"42"), (b"x-more", b"yes")], True)
        self.transmit()

    def serve_hints(self, stream, words):
        for _ in range(int(words[0])):
            self.head(stream, 103, {"link": "</a.css>; rel=preload"})
        self.plain(stream, "after")

    def serve_short(self, stream, words):
        self.head(stream, 200, {"content-length": "10"})
        self._quic.send_stream_data(stream, encode_frame(FrameType.DATA, b"four"), end_stream=True)
        self.transmit()

    def serve_long(self, stream, words):
        self.head(stream, 200, {"content-length": "4"})
        self._quic.send_stream_data(stream, encode_frame(FrameType.DATA, b"four and more"), end_stream=True)
        self.transmit()

    def serve_reset(self, stream, words):
        """/reset/CODE, or /reset/CODE/after: before, or within the body."""
        if len(words) > 1:
            self.head(stream, 200, {"content-length": "100"})
            self.data(stream, b"some")
        self._quic.reset_stream(stream, int(words[0], 0))
        self.transmit()

    def serve_fin(self, stream, words):
        self._quic.send_stream_data(stream, b"", end_stream=True)
        self.transmit()

    def serve_raw(self, stream, words):
        """/raw/HEX: bytes instead of frames."""
        self._quic.send_stream_data(stream, bytes.fromhex(words[0]), end_stream=True)
        self.transmit()

    def serve_frames(self, stream, words):
        """/frames/WORD/...: H and a field section, D and data, or R and hex; each becomes a frame."""
        makers = {
            "H": lambda text: encode_frame(FrameType.HEADERS, section(text)),
            "D": lambda text: encode_frame(FrameType.DATA, text.encode("latin-1")),
            "R": bytes.fromhex,
        }
        frames = b"".join(makers[word[0]](word[1:]) for word in words)
        self._quic.send_stream_data(stream, frames, end_stream=True)
        self.transmit()

    def serve_violate(self, stream, words):
        """/violate/STREAM/HEX[/fin|/respond]: bytes on a unidirectional stream; `new` opens one. No response by default."""
        known = {
            "control": self.http._local_control_stream_id,
            "encoder": self.http._local_encoder_stream_id,
            "decoder": self.http._local_decoder_stream_id,
        }
        target = known.get(words[0]) or self._quic.get_next_available_stream_id(is_unidirectional=True)
        self._quic.send_stream_data(target, bytes.fromhex(words[1]), end_stream=words[2:] == ["fin"])
        if words[2:] == ["respond"]:
            self.plain(stream, "after")
        self.transmit()

    def serve_endless(self, stream, words):
        """/endless/FIRST/HEX: a head if FIRST is "head", and then the same bytes until the stream ends."""
        if words[0] == "head":
            self.head(stream, 200)
        asyncio.ensure_future(self.send_endlessly(stream, bytes.fromhex(words[1]) * 1000))

    async def send_endlessly(self, stream, piece):
        while stream in self._quic._streams and not self._quic._streams[stream].is_finished:
            if len(self._quic._streams[stream].sender._buffer) < SLICE:
                self._quic.send_stream_data(stream, piece)
                self.transmit()
            await asyncio.sleep(0.002)

    def serve_control(self, stream, words):
        """/control/TYPE/HEX: a frame on the control stream, then a response."""
        self.control(int(words[0], 0), bytes.fromhex(words[1]) if len(words) > 1 else b"")
        self.plain(stream, "after")

    def serve_goaway(self, stream, words):
        self.goaway(stream + 4)
        self.plain(stream, "last", {"x-connection": str(id(self))})

    def serve_wait(self, stream, words):
        """/wait/N: responds when N such requests have arrived, after GOAWAY."""
        self.waiting.append(stream)
        if len(self.waiting) == int(words[0]):
            self.goaway(max(self.waiting) + 4)
            for one in self.waiting:
                self.plain(one, "waited")

    def serve_refuse(self, stream, words):
        """Refuses the first request of each connection by H3_REQUEST_REJECTED, after GOAWAY."""
        if not hasattr(Server, "has_refused"):
            Server.has_refused = True
            self.goaway(stream)
            self._quic.reset_stream(stream, ErrorCode.H3_REQUEST_REJECTED)
            self.transmit()
        else:
            self.plain(stream, "served")

    def serve_close(self, stream, words):
        """/close/CODE, or /close/CODE/after: CONNECTION_CLOSE before, or within the body."""
        if len(words) > 1:
            self.head(stream, 200, {"content-length": "100"})
            self.data(stream, b"some")
        self._quic.close(error_code=int(words[0], 0), reason_phrase="scripted")
        self.transmit()

    def serve_forget(self, stream, words):
        """Responds, and answers every later packet of the connection with a stateless reset (RFC 9000, 10.3)."""
        self.plain(stream, "last", {"x-connection": str(id(self))})
        asyncio.get_running_loop().call_later(0.2, self.forget)

    def forget(self):
        token = self._quic._host_cids[0].stateless_reset_token
        self.datagram_received = lambda data, address: self._transport.sendto(
            bytes([0x40 | random.randrange(64)]) + random.randbytes(40) + token, address)
        Server.forgotten.set()

    def serve_silence(self, stream, words):
        """No response at all."""

    def serve_large_head(self, stream, words):
        self.raw_head(stream, ["x-large=" + "a" * int(words[0])])

    def serve_many_fields(self, stream, words):
        self.raw_head(stream, [f"x-{i}=1" for i in range(int(words[0]))])

    def serve_gzip(self, stream, words):
        import gzip

        self.plain(stream, gzip.compress(pattern(0, int(words[0]))), {"content-encoding": "gzip"})

    def serve_block(self, stream, words):
        """/block/N: sends N bytes of twice as many, and then the relay loses everything."""
        length = int(words[0])
        self.head(stream, 200, {"content-length": str(2 * length)})
        self.data(stream, pattern(0, length))
        asyncio.get_running_loop().call_later(0.2, setattr, Server.relay, "is_blocked", True)


# --- TCP ---


async def serve_tcp(reader, writer, options):
    try:
        while True:
            line = (await reader.readline()).decode("latin-1")
            length = 0
            while (field := (await reader.readline()).strip()) != b"":
                name, value = field.split(b":", 1)
                length = int(value) if name.lower() == b"content-length" else length
            if line == "":
                break
            await reader.readexactly(length)
            path = line.split(" ")[1]
            if path == "/idle":
                await Server.all_closed.wait()
            if path == "/forgotten":
                await Server.forgotten.wait()
            if path in ("/block", "/unblock"):
                Server.relay.is_blocked = path == "/block"
            extra = f"Alt-Svc: {options['alt_svc']}\r\n" if "alt_svc" in options else ""
            writer.write(f"HTTP/1.1 200 OK\r\n{extra}Content-Length: 3\r\n\r\ntcp".encode())
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError, ValueError):
        pass
    writer.close()


async def main(port, certificate, key, options):
    loop = asyncio.get_running_loop()
    if "alt_svc" in options:
        options["alt_svc"] = options["alt_svc"].replace("PORT", str(port))
    Server.all_closed = asyncio.Event()
    Server.forgotten = asyncio.Event()
    Server.all_closed.set()
    versions = {"1": [QuicProtocolVersion.VERSION_1], "2": [QuicProtocolVersion.VERSION_2]}
    window = int(options.get("window", 1 << 20))
    configuration = QuicConfiguration(
        alpn_protocols=H3_ALPN, is_client=False, max_data=window, max_stream_data=window,
        idle_timeout=float(options.get("idle", 60)), supported_versions=versions[options.get("version", "1")])
    configuration.load_cert_chain(certificate, key)
    server = QuicServer(configuration=configuration, create_protocol=Server, retry="retry" in options)
    transport, _ = await loop.create_datagram_endpoint(lambda: server, local_addr=("127.0.0.1", 0))
    Server.relay = Relay(transport.get_extra_info("sockname")[1], options)
    await loop.create_datagram_endpoint(lambda: Server.relay, local_addr=("127.0.0.1", port))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    tls.set_alpn_protocols(["http/1.1"])
    tcp = await asyncio.start_server(lambda r, w: serve_tcp(r, w, options), "127.0.0.1", port, ssl=tls)
    await tcp.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3], dict(one.split("=", 1) for one in sys.argv[4:])))
