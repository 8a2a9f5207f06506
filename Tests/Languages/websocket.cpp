// The C++ layer of WebSockets: messages, pings, and every way in which a socket ends.
#include "steps.hpp"

#include <atomic>
#include <thread>

namespace {

std::string socket_url(const char *path) {
    return url_of(path, "NETCORE_SOCKET");
}

bool is(const std::optional<netcore::message> &message, nc_socket_kind kind, std::string_view bytes) {
    return message && message->kind == kind && message->bytes == bytes &&
           message->is_text() == (kind == NC_SOCKET_TEXT);
}

/// Texts and bytes arrive as they were sent.
bool messages() {
    using namespace std::string_view_literals;
    netcore::engine engine;
    const nc_slice protocols[] = {netcore::view("v1"), netcore::view("v2")};
    nc_socket_options options{};
    options.protocols = protocols;
    options.protocol_count = 2;
    options.offers_compression = true;
    const std::string url = socket_url("/chat/v2");
    nc_request request{};
    request.url = netcore::view(url);
    netcore::websocket socket(engine, request, options);
    socket.send("Malm\xc3\xb6");
    socket.send("\0\xff"sv, NC_SOCKET_BINARY);
    socket.send("");
    const bool arrives = is(socket.receive(), NC_SOCKET_TEXT, "Malm\xc3\xb6") &&
                         is(socket.receive(), NC_SOCKET_BINARY, "\0\xff"sv) && is(socket.receive(), NC_SOCKET_TEXT, "");
    netcore::websocket news(engine, socket_url("/news"));
    const bool ends = is(news.receive(), NC_SOCKET_TEXT, "one") && is(news.receive(), NC_SOCKET_BINARY, "\0\1"sv) &&
                      !news.receive() && !news.receive();
    return arrives && ends && socket.protocol() == "v2" && socket.response().status() == 101 && news.protocol().empty();
}

bool operations() {
    netcore::engine engine;
    netcore::websocket socket(engine, socket_url("/chat"));
    const bool pings = socket.ping().count() >= 0 && socket.ping(std::string(125, 'x')).count() >= 0;
    const bool waits = status_of([&] { socket.receive(std::chrono::milliseconds(0)); }) == NC_ERR_WAIT_TIMED_OUT;
    socket.send("after");
    const bool arrives = is(socket.receive(std::chrono::seconds(60)), NC_SOCKET_TEXT, "after");
    const netcore::close_frame frame = socket.close(4000, "bye");
    try {
        socket.send("late");
    } catch (const netcore::websocket_closed &closed) {
        return pings && waits && arrives && frame.code == 4000 && frame.reason == "bye" &&
               closed.frame().code == 4000 && socket.close().code == 4000 &&
               status_of([&] { socket.ping(); }) == NC_ERR_CLOSED &&
               status_of([&] { socket.receive(); }) == NC_ERR_CLOSED;
    }
    return false;
}

bool is_full() {
    netcore::engine engine;
    try {
        netcore::websocket(engine, socket_url("/full")).receive();
    } catch (const netcore::websocket_closed &closed) {
        return closed.frame().code == 4001 && closed.frame().reason == "full" &&
               std::string(closed.what()).find("4001: full") != std::string::npos;
    }
    return false;
}

bool is_refused() {
    netcore::engine engine;
    try {
        netcore::websocket(engine, socket_url("/cities"));
    } catch (const netcore::handshake_error &refused) {
        return refused.status() == NC_ERR_UPGRADE_REFUSED && refused.response().status() == 200 &&
               refused.body().find("Oslo") != std::string::npos;
    }
    return false;
}

/// Each way to end has its error, with the close code or the response.
bool ends() {
    netcore::engine engine;
    netcore::websocket cut(engine, socket_url("/cut"));
    netcore::websocket left(engine, socket_url("/chat"));
    left.cancel();
    return is_full() && is_refused() && is(cut.receive(), NC_SOCKET_TEXT, "one") &&
           status_of([&] { cut.receive(); }) == NC_ERR_CUT_SHORT &&
           status_of([&] { left.receive(); }) == NC_ERR_CANCELLED &&
           status_of([&] { netcore::websocket(engine, socket_url("/malformed")).receive(); }) == NC_ERR_BAD_FRAME &&
           status_of([&] { netcore::websocket(engine, socket_url("/chat/v2")); }) == NC_ERR_BAD_UPGRADE &&
           status_of([&] { netcore::websocket(engine, "ws://127.0.0.1:1/"); }) == NC_ERR_REFUSED &&
           status_of([&] { netcore::websocket(engine, "no url"); }) == NC_ERR_BAD_URL;
}

/// Sending waits for the queue, and reading is paused until the messages are received.
bool large_messages() {
    netcore::engine engine;
    netcore::websocket socket(engine, socket_url("/chat"));
    const std::string block(1 << 20, 'x');
    std::atomic<int> sent{0};
    std::thread sender([&] {
        for (int i = 0; i < 60; i++, sent++) {
            socket.send(block, NC_SOCKET_BINARY);
        }
    });
    while (sent < 16) { // the queue has room for them
        std::this_thread::yield();
    }
    bool is_right = true;
    for (int i = 0; i < 60; i++) {
        is_right = is(socket.receive(), NC_SOCKET_BINARY, block) && is_right;
    }
    sender.join();
    return is_right;
}

/// A socket may be destroyed before its engine, and after it.
bool destroyed() {
    for (int i = 0; i < 20; i++) {
        std::optional<netcore::websocket> later;
        netcore::engine engine;
        netcore::websocket first(engine, socket_url("/chat"));
        first.send("x");
        later.emplace(engine, socket_url("/quiet"));
    }
    return true;
}

} // namespace

int main() {
    step("messages", messages());
    step("operations", operations());
    step("ends", ends());
    step("large_messages", large_messages());
    step("destroyed", destroyed());
    return failures == 0 ? 0 : 1;
}
