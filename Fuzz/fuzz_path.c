/// rtnetlink datagrams from untrusted bytes. The reader stays within each datagram, the table matches the messages, and
/// the state matches the table. Between two datagrams of the input, requests, overruns and the passing of time are
/// simulated.
/// Covers: reachability/path_monitor.c
/// Covers: reachability/netlink_message.c
/// Covers: reachability/route_table.c
/// Covers: reachability/route_state.c
/// Covers: reachability/interface_kind.c
#include "input.h"
#include "reachability/path_monitor.h"

#include <linux/rtnetlink.h>
#include <string.h>

enum { PORT = 7, MAX_DATAGRAM = 2048 };

static nc_path_hint hint(const char *name, uint32_t index) {
    CHECK(strlen(name) < NC_PATH_NAME_BYTES && strlen(name) > 0);
    return (nc_path_hint)(index % 3);
}

static void check_state(const nc_path_state *state) {
    CHECK(strnlen(state->interface_name, NC_PATH_NAME_BYTES) < NC_PATH_NAME_BYTES);
    CHECK(state->status >= NC_PATH_NOT_REACHABLE && state->status <= NC_PATH_VIA_WIFI_OR_WIRED);
    if (state->status == NC_PATH_NOT_REACHABLE) {
        CHECK(state->kind == NC_PATH_KIND_NONE && state->carrier == NC_PATH_KIND_NONE);
        CHECK(state->interface_index == 0 && !state->has_ipv4 && !state->has_ipv6);
        return;
    }
    CHECK(state->interface_index != 0 && state->interface_name[0] != '\0');
    CHECK(state->has_ipv4 || state->has_ipv6);
    CHECK(state->kind != NC_PATH_KIND_NONE && state->kind == (nc_path_kind)state->kind);
    CHECK((state->status == NC_PATH_VIA_CELLULAR) == (state->carrier == NC_PATH_KIND_CELLULAR));
    CHECK(state->kind == NC_PATH_KIND_VPN || state->carrier == state->kind);
    CHECK(strcmp(nc_path_kind_name(state->kind), "none") != 0);
}

static void changed(void *ctx) {
    const nc_path_feed *feed = ctx;
    nc_path_state state;
    nc_path_table_state(&feed->table, &state);
    check_state(&state);
    const nc_path_link *link = nc_path_table_find_link(&feed->table, state.interface_index);
    CHECK(state.interface_index == 0 || (link != NULL && link->is_up && link->is_running && link->kind == state.kind));
    CHECK(feed->is_ready);
    if (link != NULL) {
        nc_path_state over;
        nc_path_table_state_over(&feed->table, link->index, 6, &over);
        check_state(&over);
    }
}

/// Writes a consistent message of a type, flags and a payload, which a fuzzer would rarely find.
static size_t write_message(const nc_path_feed *feed, input *in, uint8_t *out) {
    static const uint16_t types[] = {RTM_NEWLINK,  RTM_DELLINK,  RTM_NEWADDR, RTM_DELADDR,
                                     RTM_NEWROUTE, RTM_DELROUTE, NLMSG_DONE,  NLMSG_ERROR};
    uint8_t choice = input_byte(in);
    size_t length = input_byte(in);
    length = length < in->left.length ? length : in->left.length;
    struct nlmsghdr header = {
        .nlmsg_len = (uint32_t)NLMSG_LENGTH(length),
        .nlmsg_type = types[choice & 7],
        .nlmsg_flags = (uint16_t)((choice & 0x10) != 0   ? NLM_F_REPLACE
                                  : (choice & 0x20) != 0 ? NLM_F_DUMP_INTR
                                                         : 0),
        .nlmsg_seq = feed->sequence,
        .nlmsg_pid = (choice & 8) != 0 ? PORT : 1,
    };
    memcpy(out, &header, sizeof header);
    memset(out + sizeof header, 0, NLMSG_ALIGN(length));
    if (length > 0) {
        memcpy(out + NLMSG_HDRLEN, in->left.data, length);
    }
    in->left = nc_slice_make(in->left.data + length, in->left.length - length);
    return NLMSG_SPACE(length);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    memory_count_blocks();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    nc_path_feed feed;
    uint8_t request[NC_PATH_REQUEST_BYTES];
    uint8_t made[MAX_DATAGRAM];
    nc_path_feed_init(&feed, PORT, hint);
    while (in.left.length > 0 && in.piece_count < INPUT_MAX_PIECES) {
        uint8_t step = input_byte(&in);
        if (step == 0) {
            nc_path_feed_overrun(&feed);
        } else if (step == 1) {
            nc_path_feed_wake(&feed);
        } else if (step == 2) {
            nc_path_outgoing_route way = {.is_reached = false};
            (void)nc_path_route_reply(input_piece(&in), feed.sequence, &way);
        } else if (step == 3) {
            nc_path_feed_take(&feed, input_piece(&in), changed, &feed);
        } else {
            nc_path_feed_take(&feed, nc_slice_make(made, write_message(&feed, &in, made)), changed, &feed);
        }
        bool was_due = nc_path_feed_is_due(&feed);
        size_t length = nc_path_feed_request(&feed, request);
        CHECK((length > 0) == was_due && length <= sizeof request && !nc_path_feed_is_due(&feed));
    }
    nc_path_feed_deinit(&feed);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
