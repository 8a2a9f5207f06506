#include "websocket/fault.h"

#include <stddef.h>

typedef struct fault_row {
    nc_status status;
    uint16_t close_code;
    const char *text;
} fault_row;

static const fault_row rows[] = {
#define FAULT_ROW(name, status, code, text) {status, code, text},
    NC_WS_FAULT_MAP(FAULT_ROW)
#undef FAULT_ROW
};

nc_status nc_ws_fault_status(nc_ws_fault fault) {
    return rows[fault].status;
}

uint16_t nc_ws_fault_close_code(nc_ws_fault fault) {
    return rows[fault].close_code;
}

const char *nc_ws_fault_text(nc_ws_fault fault) {
    return rows[fault].text;
}
