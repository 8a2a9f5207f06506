/// Subscriptions of a Redis client: messages of a channel (PUBLISH).
///
/// All subscriptions of a client share one connection of their own, to the server of the URL. Redis does not keep
/// messages: those sent while the connection is down are lost. A listener is notified of both ends of such a gap, so
/// that it can empty its cache. The connection is made again with the backoff of nc_redis_config.
///
///     nc_redis_listener listener = {.channel = nc_slice_of("news"), .on_message = print, .on_change = drop_all};
///     if (nc_redis_subscribe(client, &listener, &subscription, &err) != NC_OK)
///         fprintf(stderr, "%s\n", err.message);
#ifndef NETCORE_REDIS_SUBSCRIPTION_H
#define NETCORE_REDIS_SUBSCRIPTION_H

#include <netcore/redis.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A subscription of a client.
typedef struct nc_redis_subscription nc_redis_subscription;

/// The state of a subscription.
typedef NC_ENUM(nc_redis_subscription_state){
    /// The server has confirmed the subscription: messages arrive from now on. After NC_REDIS_LOST, the gap has ended.
    NC_REDIS_SUBSCRIBED = 0,
    /// The connection was lost: messages may be missed from now on.
    NC_REDIS_LOST = 1,
    /// The subscription has ended, by nc_redis_unsubscribe() or with the client. This is the last call, exactly once.
    NC_REDIS_ENDED = 2,
} nc_redis_subscription_state;

/// A channel and the functions that receive its messages, on the client's thread. They must not block.
typedef struct nc_redis_listener {
    /// Name of the channel; copied, at most 64 KiB.
    nc_slice channel;
    /// Receives a message, which is valid during the call.
    void (*NC_NULLABLE on_message)(void *NC_NULLABLE ctx, nc_slice channel, nc_slice message);
    /// Receives each change of the state. May be NULL.
    void (*NC_NULLABLE on_change)(void *NC_NULLABLE ctx, nc_redis_subscription_state state);
    /// Passed to the functions. Must stay valid until NC_REDIS_ENDED, or until nc_redis_close() returns.
    void *NC_NULLABLE ctx;
} nc_redis_listener;

/// Subscribes to a channel. The connection is made in the background, and again whenever it is lost.
///
/// - out: valid until nc_redis_unsubscribe(), or until the client ends.
/// Returns NC_OK, NC_ERR_USAGE (an empty or too long name), NC_ERR_NO_MEMORY. Thread-safe, also from a callback.
NC_API NC_NODISCARD nc_status nc_redis_subscribe(nc_redis *client, const nc_redis_listener *listener,
                                                 nc_redis_subscription *NC_NULLABLE *NC_NONNULL out,
                                                 nc_error *NC_NULLABLE err);

/// Ends a subscription. It does not wait: until `on_change` is called with NC_REDIS_ENDED, on the client's thread,
/// messages and changes may still be delivered. So free `ctx` there, or after nc_redis_close().
///
/// - subscription: must not be used after this call. Do not call it after the client has ended, which ends all
///                 subscriptions.
/// Thread-safe, also from a callback; once for each subscription.
NC_API void nc_redis_unsubscribe(nc_redis *client, nc_redis_subscription *subscription);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
