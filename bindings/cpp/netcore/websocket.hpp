/// WebSockets in C++17: netcore::websocket over websocket.h. The calls block.
///
///     netcore::engine engine;
///     netcore::websocket socket(engine, "wss://example.com/chat");
///     socket.send("hello");
///     while (const std::optional<netcore::message> message = socket.receive())
///         std::cout << message->bytes << "\n";
#ifndef NETCORE_WEBSOCKET_HPP
#define NETCORE_WEBSOCKET_HPP

#include <netcore/netcore.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace netcore {

/// A message: a text in UTF-8, or any bytes.
struct message {
    nc_socket_kind kind = NC_SOCKET_TEXT;
    std::string bytes;
    bool is_text() const noexcept { return kind == NC_SOCKET_TEXT; }
};

/// The server's close frame: code 1005 if it has none, 1006 if no frame arrived.
struct close_frame {
    uint16_t code = NC_SOCKET_NO_CLOSE_FRAME;
    std::string reason;
    /// True for code 1000, 1001 or none.
    bool is_orderly() const noexcept { return code == 1000 || code == 1001 || code == NC_SOCKET_NO_CLOSE_CODE; }
};

/// The socket is closed. status() is NC_ERR_CLOSED.
class websocket_closed : public error {
  public:
    explicit websocket_closed(close_frame frame) : error(detail_of(frame)), frame_(std::move(frame)) {}
    const close_frame &frame() const noexcept { return frame_; }

  private:
    static nc_error detail_of(const close_frame &frame) {
        nc_error detail{};
        detail.status = NC_ERR_CLOSED;
        detail.offset = -1;
        const std::string text = "the WebSocket was closed with code " + std::to_string(frame.code) +
                                 (frame.reason.empty() ? "" : ": " + frame.reason);
        text.copy(detail.message, sizeof detail.message - 1);
        return detail;
    }

    close_frame frame_;
};

/// The server refused the handshake. `body` is the body of the response, at most 64 KiB of it.
class handshake_error : public error {
  public:
    handshake_error(const nc_error &detail, netcore::response &&refusal, std::string body)
        : error(detail), refusal_(std::make_shared<netcore::response>(std::move(refusal))), body_(std::move(body)) {}
    const netcore::response &response() const noexcept { return *refusal_; }
    const std::string &body() const noexcept { return body_; }

  private:
    std::shared_ptr<netcore::response> refusal_; // exceptions are copied
    std::string body_;
};

/// An open WebSocket. Thread-safe, except for its destruction, which ends it without a close frame. No call may be made
/// on the loop thread, because it would wait for itself.
class websocket {
  public:
    /// Opens a WebSocket and waits for the handshake. Throws handshake_error if the server refuses it.
    websocket(engine &opener, const nc_request &request, const nc_socket_options &options = {})
        : channel_(std::make_shared<channel>()) {
        check(opener.get() == nullptr || nc_engine_is_on_loop(opener.get()) ? NC_ERR_USAGE : NC_OK);
        auto owned = std::make_unique<std::shared_ptr<channel>>(channel_);
        nc_socket_sink sink{};
        sink.ctx = owned.get();
        sink.on_open = opened;
        sink.on_message = message_came;
        sink.on_pong = pong_came;
        sink.on_room = room_came;
        sink.on_end = ended;
        nc_error err{};
        nc_socket *raw = nullptr;
        check(nc_socket_open(&raw, opener.get(), &request, &options, &sink, &err), err);
        static_cast<void>(owned.release()); // on_end may have been called already, and owns the object
        handle_ = owner<nc_socket, release>(raw);
        std::unique_lock<std::mutex> lock(channel_->mutex);
        channel_->changed.wait(lock, [this] { return channel_->is_open || channel_->has_ended; });
        if (!channel_->is_open) {
            throw_end();
        }
    }

    /// Opens a WebSocket by a GET request with the defaults of nc_request.
    websocket(engine &opener, std::string_view url) : websocket(opener, request_of(url)) {}

    nc_socket *get() const noexcept { return handle_.get(); }
    /// The response to the handshake, with status 101.
    const netcore::response &response() const noexcept { return channel_->handshake; }
    /// The subprotocol that the server chose; empty for none.
    std::string_view protocol() const noexcept { return response().header("Sec-WebSocket-Protocol"); }

    /// Queues a text, or other bytes. Waits while max_queued_bytes wait to be sent.
    void send(std::string_view bytes, nc_socket_kind kind = NC_SOCKET_TEXT) {
        for (;;) {
            std::unique_lock<std::mutex> lock(channel_->mutex);
            const uint64_t room = channel_->room;
            lock.unlock();
            nc_error err{};
            const nc_status status = nc_socket_send(get(), kind, view(bytes), true, &err);
            if (status != NC_ERR_QUEUE_FULL) {
                return checked(status, err);
            }
            lock.lock();
            channel_->changed.wait(lock, [&] { return channel_->room != room || channel_->has_ended; });
        }
    }

    /// Returns the next message; nothing if the socket was closed with code 1000, 1001 or none. Throws
    /// websocket_closed for another code, the error that ended the socket, or NC_ERR_WAIT_TIMED_OUT.
    std::optional<message> receive(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
        std::unique_lock<std::mutex> lock(channel_->mutex);
        wait(lock, timeout, [this] { return !channel_->unread.empty() || channel_->has_ended; });
        if (channel_->unread.empty()) {
            if (channel_->detail.status == NC_OK && channel_->frame.is_orderly()) {
                return std::nullopt;
            }
            throw_end();
        }
        message next = std::move(channel_->unread.front());
        channel_->unread.pop_front();
        channel_->unread_bytes -= next.bytes.size();
        if (channel_->is_paused && channel_->unread_bytes <= max_unread_bytes / 2 &&
            channel_->unread.size() <= max_unread_messages / 2) {
            channel_->is_paused = false;
            nc_socket_resume(get());
        }
        return next;
    }

    /// Sends a ping of at most 125 bytes, waits for its pong, and returns the time between them. While more than 1 MiB
    /// of messages is unread, no pong arrives.
    std::chrono::nanoseconds ping(std::string_view payload = {},
                                  std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
        const auto began = std::chrono::steady_clock::now();
        std::unique_lock<std::mutex> lock(channel_->mutex);
        const uint64_t number = ++channel_->pings;
        channel_->expected_pongs.emplace_back(number, payload);
        lock.unlock();
        nc_error err{};
        const nc_status status = nc_socket_ping(get(), view(payload), &err);
        lock.lock();
        const auto is_expected = [&] {
            return std::any_of(channel_->expected_pongs.begin(), channel_->expected_pongs.end(),
                               [&](const auto &one) { return one.first == number; });
        };
        const auto is_over = [&] { return !is_expected() || channel_->has_ended; };
        const bool in_time = status != NC_OK || channel_->changed.wait_for(lock, timeout, is_over);
        const bool has_pong = !is_expected();
        channel_->forget_pongs([&](const auto &one) { return one.first == number; });
        lock.unlock();
        checked(status, err);
        check(in_time ? NC_OK : NC_ERR_WAIT_TIMED_OUT);
        if (!has_pong) {
            throw_end();
        }
        return std::chrono::steady_clock::now() - began;
    }

    /// Sends a close frame after what was sent, and waits until the server has closed. Returns its close frame.
    /// Messages that arrive meanwhile are dropped. Code 0 sends none. After the end it only returns the close frame.
    close_frame close(uint16_t code = 1000, std::string_view reason = {}) {
        nc_error err{};
        const nc_status status = nc_socket_close(get(), code, view(reason), &err);
        check(status == NC_ERR_CLOSED ? NC_OK : status, err);
        std::unique_lock<std::mutex> lock(channel_->mutex);
        channel_->drops_messages = true;
        nc_socket_resume(get());
        channel_->changed.wait(lock, [this] { return channel_->has_ended; });
        check(channel_->detail.status, channel_->detail);
        return channel_->frame;
    }

    /// Ends the socket without a close frame. Allowed after the end.
    void cancel() noexcept { nc_socket_cancel(get()); }

  private:
    // Above these limits, reading from the connection is paused.
    static constexpr size_t max_unread_bytes = size_t(1) << 20;
    static constexpr size_t max_unread_messages = 1024;

    /// What the callbacks have received. C owns a reference until on_end.
    struct channel {
        std::mutex mutex;
        std::condition_variable changed;
        netcore::response handshake;
        bool is_open = false;
        bool is_paused = false;
        bool drops_messages = false;
        bool has_ended = false;
        uint64_t room = 0; // how often on_room was called
        uint64_t pings = 0;
        std::vector<std::pair<uint64_t, std::string>> expected_pongs;
        std::deque<message> unread;
        size_t unread_bytes = 0;
        nc_error detail{};
        close_frame frame;
        netcore::response refusal;
        std::string body;

        template <class Test> void forget_pongs(Test test) {
            expected_pongs.erase(std::remove_if(expected_pongs.begin(), expected_pongs.end(), test),
                                 expected_pongs.end());
        }
    };

    static void release(nc_socket *raw) noexcept {
        if (raw != nullptr) {
            nc_socket_cancel(raw);
            nc_socket_release(raw);
        }
    }

    static nc_request request_of(std::string_view url) noexcept {
        nc_request request{};
        request.url = view(url);
        return request;
    }

    static channel &of(void *ctx) noexcept { return **static_cast<std::shared_ptr<channel> *>(ctx); }

    static void opened(void *ctx, nc_socket *, const nc_response *raw) noexcept {
        const std::lock_guard<std::mutex> lock(of(ctx).mutex);
        of(ctx).handshake = netcore::response(nc_response_retain(const_cast<nc_response *>(raw)));
        of(ctx).is_open = true;
        of(ctx).changed.notify_all();
    }

    static nc_action message_came(void *ctx, nc_socket *, nc_socket_kind kind, nc_slice bytes, bool) noexcept {
        channel &channel = of(ctx);
        const std::lock_guard<std::mutex> lock(channel.mutex);
        try {
            if (channel.drops_messages) {
                return NC_ACTION_CONTINUE;
            }
            channel.unread.push_back({kind, std::string(text(bytes))});
            channel.unread_bytes += bytes.length;
            channel.is_paused = channel.unread_bytes > max_unread_bytes || channel.unread.size() > max_unread_messages;
            channel.changed.notify_all();
            return channel.is_paused ? NC_ACTION_PAUSE : NC_ACTION_CONTINUE;
        } catch (...) { // no memory
            return NC_ACTION_STOP;
        }
    }

    static void pong_came(void *ctx, nc_socket *, nc_slice payload) noexcept {
        const std::lock_guard<std::mutex> lock(of(ctx).mutex);
        of(ctx).forget_pongs([&](const auto &one) { return one.second == text(payload); });
        of(ctx).changed.notify_all();
    }

    static void room_came(void *ctx, nc_socket *) noexcept {
        const std::lock_guard<std::mutex> lock(of(ctx).mutex);
        of(ctx).room++;
        of(ctx).changed.notify_all();
    }

    static void ended(void *ctx, nc_socket *, const nc_socket_end *end) noexcept {
        const std::unique_ptr<std::shared_ptr<channel>> owned(static_cast<std::shared_ptr<channel> *>(ctx));
        channel &channel = **owned;
        const std::lock_guard<std::mutex> lock(channel.mutex);
        channel.detail = *end->error;
        channel.frame = {end->close_code, std::string(text(end->close_reason))};
        if (end->error->status == NC_ERR_UPGRADE_REFUSED) {
            channel.refusal = netcore::response(nc_response_retain(end->response));
            channel.body = std::string(text(end->refusal));
        }
        channel.has_ended = true;
        channel.changed.notify_all();
    }

    template <class Condition>
    void wait(std::unique_lock<std::mutex> &lock, std::optional<std::chrono::milliseconds> timeout,
              Condition condition) {
        if (!timeout) {
            channel_->changed.wait(lock, condition);
        } else if (!channel_->changed.wait_for(lock, *timeout, condition)) {
            throw error(NC_ERR_WAIT_TIMED_OUT);
        }
    }

    /// Throws the reason why the socket has ended.
    [[noreturn]] void throw_end() const {
        const channel &channel = *channel_;
        if (channel.detail.status == NC_ERR_UPGRADE_REFUSED) {
            throw handshake_error(channel.detail, channel.refusal.share(), channel.body);
        }
        if (channel.detail.status != NC_OK) {
            throw error(channel.detail);
        }
        throw websocket_closed(channel.frame);
    }

    /// Throws the error of a call, or the reason why the socket is closed.
    void checked(nc_status status, const nc_error &err) {
        const std::lock_guard<std::mutex> lock(channel_->mutex);
        if (status == NC_ERR_CLOSED && channel_->has_ended) {
            throw_end();
        }
        check(status, err);
    }

    std::shared_ptr<channel> channel_;
    owner<nc_socket, release> handle_;
};

} // namespace netcore

#endif
