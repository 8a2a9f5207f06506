#include <netcore/status.h>

const char *nc_status_name(nc_status status) {
    switch (status) {
#define NC_STATUS_NAME(name, number, sentence)                                                                         \
    case name:                                                                                                         \
        return #name;
        NC_STATUS_MAP(NC_STATUS_NAME)
#undef NC_STATUS_NAME
    default:
        return "NC_ERR_INTERNAL";
    }
}

const char *nc_status_text(nc_status status) {
    switch (status) {
#define NC_STATUS_TEXT(name, number, sentence)                                                                         \
    case name:                                                                                                         \
        return sentence;
        NC_STATUS_MAP(NC_STATUS_TEXT)
#undef NC_STATUS_TEXT
    default:
        return nc_status_text(NC_ERR_INTERNAL);
    }
}

bool nc_status_is_retryable(nc_status status) {
    switch (status) {
    case NC_ERR_RESOLVE:
    case NC_ERR_CONNECT:
    case NC_ERR_REFUSED:
    case NC_ERR_UNREACHABLE:
    case NC_ERR_RESET:
    case NC_ERR_CUT_SHORT:
    case NC_ERR_EMPTY_REPLY:
    case NC_ERR_PROXY:
    case NC_ERR_SEND:
    case NC_ERR_RECEIVE:
    case NC_ERR_HTTP2:
    case NC_ERR_HTTP3:
    case NC_ERR_CONNECT_TIMED_OUT:
    case NC_ERR_FIRST_BYTE_TIMED_OUT:
    case NC_ERR_IDLE_TIMED_OUT:
    case NC_ERR_TOTAL_TIMED_OUT:
    case NC_ERR_SLOT_TIMED_OUT:
    case NC_ERR_PEER_TIMED_OUT:
        return true;
    default:
        return false;
    }
}
