#include "text/host.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"

#include <arpa/inet.h>
#include <idn2.h>
#include <libpsl.h>
#include <stdio.h>
#include <string.h>

/// The limit of a host as the caller wrote it. It leaves room for an international name with a canonical form of 253
/// bytes, even if each byte is percent-encoded and so takes three bytes.
enum { MAX_WRITTEN_BYTES = 4096, MAX_ZONE_BYTES = 15, MAX_LABEL_BYTES = 63 };

static nc_status refuse(nc_error *err, const char *reason) {
    return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the host of the URL %s", reason);
}

/* --- canonical names --- */

/// Returns true if the last label begins with a digit. A name with another last label is never an IPv4 address.
static bool may_be_address(nc_slice name) {
    size_t at = name.length;
    while (at > 0 && name.data[at - 1] != '.') {
        at--;
    }
    return at < name.length && nc_ascii_is_digit(name.data[at]);
}

/// Returns true for a canonical IPv4 address: four decimal parts without leading zeros.
static bool is_plain_address(nc_slice text) {
    uint32_t parts = 1;
    uint32_t number = 0;
    size_t digits = 0; // number of digits of the current part
    for (size_t i = 0; i < text.length; i++) {
        uint8_t c = text.data[i];
        if (c == '.' && digits > 0) {
            parts++;
            number = 0;
            digits = 0;
            continue;
        }
        number = number * 10 + (uint32_t)(c - '0');
        if (!nc_ascii_is_digit(c) || number > 255 || (digits > 0 && text.data[i - digits] == '0')) {
            return false;
        }
        digits++;
    }
    return parts == 4 && digits > 0;
}

/// Returns true for lower-case letters, digits, '-', '_' and single inner dots, as in nearly every host.
static bool is_plain_name(nc_slice text) {
    if (text.length == 0 || text.length > NC_HOST_MAX_BYTES || text.data[text.length - 1] == '.') {
        return false;
    }
    bool is_label_start = true;
    for (size_t i = 0; i < text.length; i++) {
        uint8_t c = text.data[i];
        bool is_dot = c == '.';
        bool is_inner = (c >= 'a' && c <= 'z') || nc_ascii_is_digit(c) || c == '-' || c == '_';
        if (!is_inner && (!is_dot || is_label_start)) {
            return false;
        }
        is_label_start = is_dot;
    }
    return !may_be_address(text);
}

/* --- addresses --- */

static void keep(nc_canonical_host *out, nc_host_kind kind) {
    out->text = nc_slice_of(out->storage);
    out->kind = kind;
}

/// Parses one part of an IPv4 address: decimal, octal after "0", hexadecimal after "0x". Returns false for other text
/// and above 32 bits.
static bool take_number(uint64_t *number, const char **at) {
    const char *text = *at;
    uint32_t base = 10;
    if (!nc_ascii_is_digit((uint8_t)*text)) {
        return false;
    }
    if (text[0] == '0' && text[1] == 'x') {
        base = 16;
        text += 2;
    } else if (text[0] == '0') {
        base = 8;
    }
    const char *first = text;
    for (*number = 0; *text != '\0' && *text != '.'; text++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = strchr(digits, *text);
        if (digit == NULL || (uint32_t)(digit - digits) >= base) {
            return false;
        }
        *number = *number * base + (uint32_t)(digit - digits);
        if (*number > UINT32_MAX) {
            return false;
        }
    }
    *at = text;
    return text > first;
}

/// Parses an IPv4 address of one to four parts like inet_aton(3) and libcurl. The last part fills the remaining bytes.
static bool read_ipv4(struct in_addr *out, const char *text) {
    uint32_t address = 0;
    for (uint32_t part = 0; part < 4; part++) {
        uint64_t number;
        if (!take_number(&number, &text)) {
            return false;
        }
        if (*text == '\0') {
            uint64_t limit = UINT64_C(1) << (32 - 8 * part);
            out->s_addr = htonl(address | (uint32_t)number);
            return number < limit;
        }
        if (number > 255) {
            return false;
        }
        address |= (uint32_t)number << (24 - 8 * part);
        text++;
    }
    return false;
}

static bool take_ipv4(nc_canonical_host *out) {
    struct in_addr address;
    if (!may_be_address(nc_slice_of(out->storage)) || !read_ipv4(&address, out->storage)) {
        return false;
    }
    (void)inet_ntop(AF_INET, &address, out->storage, sizeof out->storage);
    keep(out, NC_HOST_IPV4);
    return true;
}

/// Splits off the zone of an IPv6 address. In RFC 6874 the '%' before a zone is written "%25"; libcurl also accepts a
/// bare '%'. A zone is the case-sensitive name of an interface.
static bool take_zone(nc_slice *zone, nc_slice *text) {
    const uint8_t *percent = memchr(text->data, '%', text->length);
    *zone = nc_slice_make(NULL, 0);
    if (percent == NULL) {
        return true;
    }
    size_t before = (size_t)(percent - text->data);
    *zone = nc_slice_make(percent + 1, text->length - before - 1);
    text->length = before;
    if (zone->length > 2 && memcmp(zone->data, "25", 2) == 0) {
        *zone = nc_slice_make(zone->data + 2, zone->length - 2);
    }
    for (size_t i = 0; i < zone->length; i++) {
        uint8_t c = zone->data[i];
        bool is_mark = c == '-' || c == '.' || c == '_' || c == '~';
        if (!nc_ascii_is_alpha(c) && !nc_ascii_is_digit(c) && !is_mark) {
            return false;
        }
    }
    return zone->length > 0 && zone->length <= MAX_ZONE_BYTES;
}

static bool take_ipv6(nc_canonical_host *out, nc_slice text) {
    struct in6_addr address;
    nc_slice zone;
    if (!take_zone(&zone, &text) || text.length >= INET6_ADDRSTRLEN) {
        return false;
    }
    memcpy(out->storage, text.data, text.length);
    out->storage[text.length] = '\0';
    if (memchr(text.data, 0, text.length) != NULL || inet_pton(AF_INET6, out->storage, &address) != 1) {
        return false;
    }
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
        (void)inet_ntop(AF_INET, address.s6_addr + 12, out->storage, sizeof out->storage);
        keep(out, NC_HOST_IPV4);
        out->is_mapped = true;
        return true;
    }
    (void)inet_ntop(AF_INET6, &address, out->storage, sizeof out->storage);
    if (zone.length > 0) {
        size_t length = strlen(out->storage);
        (void)snprintf(out->storage + length, sizeof out->storage - length, "%%25%.*s", (int)zone.length,
                       (const char *)zone.data);
    }
    keep(out, NC_HOST_IPV6);
    return true;
}

/* --- other names --- */

/// Decodes percent escapes once, as libcurl does. A '%' without two hex digits is copied, and take_name() refuses it.
static size_t decode(char *out, nc_slice text) {
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++) {
        uint8_t c = text.data[i];
        if (c == '%' && i + 2 < text.length && nc_ascii_hex(text.data[i + 1]) >= 0 &&
            nc_ascii_hex(text.data[i + 2]) >= 0) {
            c = (uint8_t)(nc_ascii_hex(text.data[i + 1]) << 4 | nc_ascii_hex(text.data[i + 2]));
            i += 2;
        }
        out[length++] = (char)c;
    }
    return length;
}

/// Converts an international name to ASCII. libcurl would interpret the name in the charset of the process's locale.
/// But in NetKit, text is UTF-8 in every locale.
static nc_status convert(char **out, const char *text, nc_error *err) {
    const uint8_t *input = (const uint8_t *)text;
    uint8_t *ascii = NULL;
    int code = idn2_lookup_u8(input, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (code != IDN2_OK && code != IDN2_MALLOC) {
        code = idn2_lookup_u8(input, &ascii, IDN2_TRANSITIONAL);
    }
    if (code == IDN2_MALLOC) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a host name");
    }
    if (code != IDN2_OK) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the host of the URL is not a valid internationalized name: %s",
                            idn2_strerror(code));
    }
    *out = (char *)ascii;
    return NC_OK;
}

bool nc_host_is_registrable_label(nc_slice label) {
    uint8_t text[NC_HOST_MAX_BYTES + 1];
    uint8_t *registered = NULL;
    if (label.length == 0 || label.length > NC_HOST_MAX_BYTES || memchr(label.data, 0, label.length) != NULL) {
        return false;
    }
    memcpy(text, label.data, label.length);
    text[label.length] = 0;
    bool is_ascii = nc_ascii_is_all(label);
    int code = idn2_register_u8(is_ascii ? NULL : text, is_ascii ? text : NULL, &registered, 0);
    idn2_free(registered);
    return code == IDN2_OK;
}

/// Returns true for control characters and the bytes that libcurl refuses in a host. Such a byte can also result from
/// IDNA, which maps "℀" to "a/c".
static bool is_forbidden(uint8_t c) {
    return c <= ' ' || c == 0x7F || strchr("/:#?!@{}[]\\|$'\"^`*<>=;,&()+%", c) != NULL;
}

static bool has_forbidden(const char *text) {
    for (const char *at = text; *at != '\0'; at++) {
        if (is_forbidden((uint8_t)*at) || (uint8_t)*at > 0x7F) {
            return true;
        }
    }
    return false;
}

static bool has_empty_label(const char *name) {
    return name[0] == '\0' || name[0] == '.' || strstr(name, "..") != NULL;
}

/// Sets the host to an ASCII name, in lower case and without the trailing dot, or to the IPv4 address that it spells.
static nc_status take_name(nc_canonical_host *out, const char *text, nc_error *err) {
    size_t length = strlen(text);
    if (has_forbidden(text)) {
        return refuse(err, "contains a forbidden character");
    }
    length -= length > 0 && text[length - 1] == '.' ? 1 : 0;
    if (length > NC_HOST_MAX_BYTES) {
        return refuse(err, "is longer than 253 bytes");
    }
    for (size_t i = 0; i < length; i++) {
        out->storage[i] = (char)nc_ascii_lower((uint8_t)text[i]);
    }
    out->storage[length] = '\0';
    // "a.." is refused. Its canonical form would be "a.", which would become "a" if it were parsed again.
    if (has_empty_label(out->storage) || out->storage[length - 1] == '.') {
        return refuse(err, "has an empty label");
    }
    if (!take_ipv4(out)) {
        keep(out, NC_HOST_NAME);
    }
    return NC_OK;
}

static nc_status read_written(nc_canonical_host *out, nc_slice host, nc_error *err) {
    char decoded[MAX_WRITTEN_BYTES + 1];
    if (host.length > MAX_WRITTEN_BYTES) {
        return refuse(err, "is longer than 4096 bytes");
    }
    size_t length = decode(decoded, host);
    decoded[length] = '\0';
    if (memchr(decoded, 0, length) != NULL) {
        return refuse(err, "contains a forbidden character");
    }
    bool is_ascii = true;
    for (size_t i = 0; i < length; i++) {
        is_ascii &= (uint8_t)decoded[i] < 0x80;
    }
    if (is_ascii) {
        return take_name(out, decoded, err);
    }
    if (nc_utf8_span((const uint8_t *)decoded, length) != length) {
        return refuse(err, "is not UTF-8");
    }
    char *ascii = NULL;
    nc_status status = convert(&ascii, decoded, err);
    if (status == NC_OK) {
        status = take_name(out, ascii, err);
        idn2_free(ascii);
    }
    return status;
}

nc_status nc_host_read(nc_canonical_host *out, nc_slice host, nc_error *err) {
    out->is_mapped = false;
    if (is_plain_name(host)) {
        out->text = host;
        out->kind = NC_HOST_NAME;
        return nc_error_clear(err);
    }
    if (is_plain_address(host)) {
        out->text = host;
        out->kind = NC_HOST_IPV4;
        return nc_error_clear(err);
    }
    if (host.length == 0) {
        return refuse(err, "is empty");
    }
    bool is_bracketed = host.length >= 2 && host.data[0] == '[' && host.data[host.length - 1] == ']';
    if (is_bracketed || memchr(host.data, ':', host.length) != NULL) {
        nc_slice inner = is_bracketed ? nc_slice_make(host.data + 1, host.length - 2) : host;
        return take_ipv6(out, inner) ? nc_error_clear(err) : refuse(err, "is not a valid IPv6 address");
    }
    nc_status status = read_written(out, host, err);
    return status == NC_OK ? nc_error_clear(err) : status;
}

bool nc_host_has_forbidden_byte(nc_slice host) {
    char decoded[MAX_WRITTEN_BYTES];
    if (is_plain_name(host) || is_plain_address(host) || host.length > sizeof decoded) {
        return false;
    }
    size_t length = decode(decoded, host);
    for (size_t i = 0; i < length; i++) {
        if (is_forbidden((uint8_t)decoded[i])) {
            return true;
        }
    }
    return false;
}

nc_status nc_host_canonicalize(nc_buf *out, nc_host_kind *kind, nc_slice host, nc_error *err) {
    nc_canonical_host read;
    nc_status status = nc_host_read(&read, host, err);
    if (status != NC_OK) {
        return status;
    }
    if (kind != NULL) {
        *kind = read.kind;
    }
    nc_buf_append(out, read.text);
    status = nc_buf_status(out);
    return status == NC_OK ? NC_OK
                           : nc_error_set(err, status, 0, -1, "cannot store the host: %s", nc_status_text(status));
}

nc_host_kind nc_host_kind_of(nc_slice canonical) {
    if (canonical.length > 0 && memchr(canonical.data, ':', canonical.length) != NULL) {
        return NC_HOST_IPV6;
    }
    char text[INET_ADDRSTRLEN];
    struct in_addr address;
    if (canonical.length == 0 || canonical.length >= sizeof text || !may_be_address(canonical)) {
        return NC_HOST_NAME;
    }
    memcpy(text, canonical.data, canonical.length);
    text[canonical.length] = '\0';
    return inet_pton(AF_INET, text, &address) == 1 ? NC_HOST_IPV4 : NC_HOST_NAME;
}

/* --- names of certificates --- */

static bool has_certificate_labels(nc_slice name) {
    size_t label = 0;
    for (size_t i = 0; i < name.length; i++) {
        uint8_t byte = name.data[i];
        bool is_allowed = nc_ascii_is_alpha(byte) || nc_ascii_is_digit(byte) || byte == '_' || byte == '-';
        label = byte == '.' ? 0 : label + 1;
        if ((byte != '.' && !is_allowed) || label > MAX_LABEL_BYTES) {
            return false;
        }
    }
    return true;
}

nc_host_name nc_host_certificate_name(const nc_canonical_host *host) {
    nc_host_name name = {.is_address = host->kind != NC_HOST_NAME};
    const uint8_t *zone = host->text.length > 0 ? memchr(host->text.data, '%', host->text.length) : NULL;
    int length = zone != NULL ? (int)(zone - host->text.data) : (int)host->text.length;
    if (name.is_address || has_certificate_labels(host->text)) {
        (void)snprintf(name.text, sizeof name.text, "%s%.*s", host->is_mapped ? "::ffff:" : "", length,
                       (const char *)host->text.data);
        name.length = (uint16_t)strlen(name.text);
    }
    return name;
}

bool nc_host_name_parse(nc_host_name *out, nc_slice host) {
    nc_canonical_host read;
    *out = nc_host_read(&read, host, NULL) == NC_OK ? nc_host_certificate_name(&read) : (nc_host_name){.length = 0};
    return out->length > 0;
}

/* --- public suffixes --- */

/// Copies a name, NUL-terminated. Returns false for addresses and for a name that is too long.
static bool copy_name(char out[NC_HOST_MAX_BYTES + 1], nc_slice host) {
    if (host.length == 0 || host.length > NC_HOST_MAX_BYTES || nc_host_kind_of(host) != NC_HOST_NAME) {
        return false;
    }
    memcpy(out, host.data, host.length);
    out[host.length] = '\0';
    return true;
}

/// A single label is always a suffix. If libpsl was built without a list, no name of two or more labels is a suffix.
static bool is_suffix(const char *name) {
    const psl_ctx_t *list = psl_builtin();
    return strchr(name, '.') == NULL || (list != NULL && psl_is_public_suffix(list, name) != 0);
}

bool nc_is_public_suffix(nc_slice host) {
    char name[NC_HOST_MAX_BYTES + 1];
    return copy_name(name, host) && is_suffix(name);
}

bool nc_is_registry_suffix(nc_slice host) {
    char name[NC_HOST_MAX_BYTES + 1];
    const psl_ctx_t *list = psl_builtin();
    return copy_name(name, host) &&
           (strchr(name, '.') == NULL || (list != NULL && psl_is_public_suffix2(list, name, PSL_TYPE_ICANN) != 0));
}

nc_slice nc_registrable_domain(nc_slice host) {
    char name[NC_HOST_MAX_BYTES + 1];
    if (!copy_name(name, host) || is_suffix(name)) {
        return host;
    }
    const psl_ctx_t *list = psl_builtin();
    const char *found = list != NULL ? psl_registrable_domain(list, name) : NULL;
    if (found == NULL && list == NULL) {
        const char *dot = strrchr(name, '.');
        for (found = dot; found > name && found[-1] != '.'; found--) {
        }
    }
    if (found == NULL) {
        return host;
    }
    size_t before = (size_t)(found - name);
    return nc_slice_make(host.data + before, host.length - before);
}
