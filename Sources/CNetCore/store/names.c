#include "store/names.h"

#include <stdio.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

void nc_entry_name_format(char out[NC_ENTRY_NAME_BYTES], const nc_store_name *name) {
    for (size_t i = 0; i < NC_STORE_ID_BYTES; i++) {
        out[2 * i] = digits[name->id[i] >> 4];
        out[2 * i + 1] = digits[name->id[i] & 15];
    }
    out[2 * NC_STORE_ID_BYTES] = '.';
    out[2 * NC_STORE_ID_BYTES + 1] = (char)('0' + name->slot);
    out[2 * NC_STORE_ID_BYTES + 2] = '\0';
}

/// Returns the value of a lower-case hex digit, or -1 for any other character, including NUL.
static int value_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool nc_entry_name_parse(nc_store_name *out, const char *text) {
    nc_store_name name;
    for (size_t i = 0; i < NC_STORE_ID_BYTES; i++) {
        int high = value_of(text[2 * i]);
        int low = high < 0 ? -1 : value_of(text[2 * i + 1]);
        if (low < 0) {
            return false;
        }
        name.id[i] = (uint8_t)(high << 4 | low);
    }
    const char *rest = text + 2 * NC_STORE_ID_BYTES;
    if (rest[0] != '.' || rest[1] < '0' || rest[1] >= '0' + NC_STORE_SLOTS || rest[2] != '\0') {
        return false;
    }
    name.slot = (uint8_t)(rest[1] - '0');
    *out = name;
    return true;
}

void nc_part_name_format(char out[NC_PART_NAME_BYTES], uint64_t instance, uint64_t number) {
    (void)snprintf(out, NC_PART_NAME_BYTES, "part-%016llx-%016llx", (unsigned long long)instance,
                   (unsigned long long)number);
}

/// Parses sixteen hex digits.
static bool parse_number(uint64_t *out, const char *text) {
    uint64_t number = 0;
    for (size_t i = 0; i < 16; i++) {
        int value = value_of(text[i]);
        if (value < 0) {
            return false;
        }
        number = number << 4 | (uint64_t)value;
    }
    *out = number;
    return true;
}

bool nc_part_name_parse(uint64_t *instance, const char *text) {
    uint64_t number = 0;
    return strncmp(text, "part-", 5) == 0 && parse_number(instance, text + 5) && text[21] == '-' &&
           parse_number(&number, text + 22) && text[38] == '\0';
}
