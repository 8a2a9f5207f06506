/// Covers: download/file_name.c
/// Covers: request/resume_rules.c
/// Covers: download/record.c
///
/// Untrusted input of downloads: fields, names, and records on disk. A name is one path component, and sanitizing it
/// again changes nothing. A range is consistent. A record that is read is written the same. A text also gets a valid
/// checksum, so that its lines are reached.
/// Input: a byte (0 a name, 1 Content-Disposition, 2 a URL, 3 Content-Range, 4 digests, 5 a record, 6 a record whose
/// checksum is corrected), then the text.
#include "input.h"

#include "download/internal.h"

#include <string.h>

enum { ROOM = 1 << 20 };

static void check_safe(nc_slice name) {
    CHECK(name.length > 0 && name.length <= NC_SAFE_NAME_BYTES);
    CHECK(!holds_any(name, "/\\<>:\"|?*\n\r\x1b"));
    CHECK(name.data[0] != '.' && name.data[0] != ' ' && name.data[0] != '-' && name.data[0] != '~');
    CHECK(utf8_span_by_decoding(name) == name.length);
}

static void check_name(nc_slice text) {
    nc_buf once = nc_buf_init(ROOM);
    nc_buf twice = nc_buf_init(ROOM);
    nc_safe_name(&once, text);
    CHECK(nc_buf_status(&once) == NC_OK);
    check_safe(nc_buf_slice(&once));
    nc_safe_name(&twice, nc_buf_slice(&once));
    check_safe(nc_buf_slice(&twice));
    nc_buf_deinit(&once);
    nc_buf_deinit(&twice);
}

static void check_found_name(nc_slice text, bool is_url) {
    nc_buf name = nc_buf_init(ROOM);
    bool is_found = is_url ? nc_url_last_component(&name, text) : nc_disposition_name(&name, text);
    CHECK(is_found == (name.length > 0));
    check_name(nc_buf_slice(&name));
    nc_buf_deinit(&name);
}

static void check_range(nc_slice text) {
    nc_content_range range;
    if (!nc_content_range_parse(&range, text)) {
        return;
    }
    CHECK(range.total == NC_LENGTH_UNKNOWN || range.total <= INT64_MAX);
    if (range.is_unsatisfied) {
        CHECK(range.total != NC_LENGTH_UNKNOWN);
    } else {
        CHECK(range.first <= range.last && range.last <= INT64_MAX && range.last < range.total);
    }
}

static void check_digests(nc_slice text) {
    nc_download_digests both = {0};
    nc_digests_take(&both, text, true);
    nc_digests_take(&both, text, false);
    CHECK(nc_digests_agree(&both, &both));
}

static void check_record(nc_slice text) {
    nc_record record;
    nc_record again;
    nc_buf texts = nc_buf_init(ROOM);
    if (nc_record_read(&record, &texts, text)) {
        nc_buf written = nc_buf_init(ROOM);
        nc_buf more = nc_buf_init(ROOM);
        CHECK(record.piece_count > 0 && record.url.length > 0);
        for (size_t i = 0; i < record.piece_count; i++) {
            const nc_record_piece *piece = &record.pieces[i];
            CHECK(piece->stored_bytes <= INT64_MAX && (piece->end == NC_LENGTH_UNKNOWN || piece->start <= piece->end));
        }
        nc_record_write(&written, &record);
        CHECK(nc_record_read(&again, &more, nc_buf_slice(&written)));
        CHECK(nc_slice_is_equal(record.url, again.url) && nc_slice_is_equal(record.path, again.path));
        CHECK(record.total == again.total && nc_record_stored_bytes(&record) == nc_record_stored_bytes(&again));
        nc_buf_deinit(&written);
        nc_buf_deinit(&more);
    }
    nc_buf_deinit(&texts);
}

static void check_signed_record(nc_slice text) {
    uint8_t sum[NC_CHECKSUM_BYTES];
    nc_buf whole = nc_buf_init(ROOM);
    nc_checksum state = nc_checksum_init();
    nc_buf_append(&whole, nc_slice_of("netkit partial download 1\n"));
    nc_buf_append(&whole, text);
    nc_checksum_update(&state, nc_buf_slice(&whole));
    nc_checksum_finish(sum, &state);
    nc_buf_append(&whole, nc_slice_of("check "));
    nc_hex_encode(&whole, nc_slice_make(sum, sizeof sum));
    nc_buf_append_byte(&whole, '\n');
    if (nc_buf_status(&whole) == NC_OK) {
        check_record(nc_buf_slice(&whole));
    }
    nc_buf_deinit(&whole);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    memory_count_blocks();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t kind = input_byte(&in);
    nc_slice text = input_rest(&in);
    switch (kind % 7) {
    case 0:
        check_name(text);
        break;
    case 1:
        check_found_name(text, false);
        break;
    case 2:
        check_found_name(text, true);
        break;
    case 3:
        check_range(text);
        break;
    case 4:
        check_digests(text);
        break;
    case 5:
        check_record(text);
        break;
    default:
        check_signed_record(text);
        break;
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
