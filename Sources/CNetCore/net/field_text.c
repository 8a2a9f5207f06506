#include "net/field_text.h"

#include "base/ascii.h"

nc_slice nc_field_trim(nc_slice text) {
    while (text.length > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    while (text.length > 0 && (text.data[text.length - 1] == ' ' || text.data[text.length - 1] == '\t')) {
        text.length--;
    }
    return text;
}

nc_slice nc_field_take(nc_slice *left, uint8_t separator) {
    bool is_quoted = false;
    size_t length = 0;
    while (length < left->length && (is_quoted || left->data[length] != separator)) {
        is_quoted = is_quoted != (left->data[length] == '"');
        length++;
    }
    nc_slice taken = nc_slice_make(left->data, length);
    size_t used = length < left->length ? length + 1 : length;
    *left = nc_slice_make(left->data + used, left->length - used);
    return taken;
}

nc_slice nc_field_unquote(nc_slice text) {
    bool is_quoted = text.length >= 2 && text.data[0] == '"' && text.data[text.length - 1] == '"';
    return is_quoted ? nc_slice_make(text.data + 1, text.length - 2) : text;
}

bool nc_field_seconds(int64_t *out_s, nc_slice text, int64_t max_s) {
    nc_slice digits = nc_field_unquote(text);
    int64_t number = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (!nc_ascii_is_digit(digits.data[i])) {
            return false;
        }
        number = number > max_s / 10 ? max_s : number * 10 + (digits.data[i] - '0');
    }
    *out_s = number < max_s ? number : max_s;
    return digits.length > 0;
}
