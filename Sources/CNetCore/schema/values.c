#include "schema/evaluator.h"

/* --- strings --- */

static uint64_t count_characters(nc_slice text) {
    uint64_t count = 0;
    for (size_t i = 0; i < text.length; i++) {
        count += (text.data[i] & 0xC0) != 0x80 ? 1 : 0;
    }
    return count;
}

/// The number of steps that the check may have taken at an offset.
static uint64_t allowed_steps(const nc_evaluator *e) {
    return NC_EVALUATOR_FREE_STEPS + e->offset * e->limits.steps_per_byte;
}

bool nc_evaluator_spend(nc_evaluator *e) {
    return e->steps <= allowed_steps(e) || nc_evaluator_stop(e, NC_ERR_TOO_LARGE, "steps_per_byte");
}

bool nc_evaluator_matches(nc_evaluator *e, uint32_t pattern, nc_slice text) {
    uint64_t allowed = allowed_steps(e) + text.length * e->limits.steps_per_byte;
    uint64_t left = allowed > e->steps ? allowed - e->steps : 0;
    uint64_t budget = left;
    int result = nc_regex_match(nc_schema_pattern_at(e->schema, pattern), text, e->scratch, &budget);
    e->steps += (left - budget) / 8; // A step of a pattern takes less time than others.
    return result < 0 ? nc_evaluator_stop(e, NC_ERR_TOO_LARGE, "steps_per_byte") : result > 0;
}

static void check_string(nc_evaluator *e, uint32_t index, uint64_t characters) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    if (characters < node->min_length) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_MIN_LENGTH, characters));
    } else if (characters > node->max_length) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_MAX_LENGTH, characters));
    } else if (node->pattern != NC_SCHEMA_NONE && !nc_evaluator_matches(e, node->pattern, e->scalar)) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_PATTERN, 0));
    } else if (node->format != NC_FORMAT_NONE && !nc_format_matches(node->format, e->scalar)) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_FORMAT, 0));
    }
}

void nc_evaluator_check_length(nc_evaluator *e, uint32_t first, nc_slice text) {
    uint64_t characters = count_characters(text);
    uint32_t count = nc_frame_count(e);
    for (uint32_t i = first; i < count; i++) {
        if (characters > nc_frame_at(e, i)->node->max_length) {
            nc_frame_fail(e, i, nc_frame_reason(e, i, NC_KEYWORD_MAX_LENGTH, characters));
        }
    }
}

/* --- numbers --- */

static bool is_beyond(const nc_evaluator *e, const nc_decimal *number, uint32_t limit, int direction,
                      bool is_exclusive) {
    if (limit == NC_SCHEMA_NONE) {
        return false;
    }
    int order = nc_decimal_compare(number, &nc_schema_number_at(e->schema, limit)->decimal) * direction;
    return order > 0 || (is_exclusive && order == 0);
}

static bool is_multiple(const nc_evaluator *e, uint32_t divisor) {
    const nc_schema_number *number = nc_schema_number_at(e->schema, divisor);
    nc_digits digits = nc_digits_read(e->scalar);
    return nc_digits_is_multiple(&digits, number->digits, number->exponent);
}

static void check_number(nc_evaluator *e, uint32_t index, const nc_decimal *number) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    nc_schema_keyword keyword = NC_KEYWORD_NONE;
    if ((node->types & NC_TYPE_FRACTION) == 0 && !nc_decimal_is_integral(number)) {
        keyword = NC_KEYWORD_TYPE;
    } else if (is_beyond(e, number, node->minimum, -1, false)) {
        keyword = NC_KEYWORD_MINIMUM;
    } else if (is_beyond(e, number, node->maximum, 1, false)) {
        keyword = NC_KEYWORD_MAXIMUM;
    } else if (is_beyond(e, number, node->exclusive_minimum, -1, true)) {
        keyword = NC_KEYWORD_EXCLUSIVE_MINIMUM;
    } else if (is_beyond(e, number, node->exclusive_maximum, 1, true)) {
        keyword = NC_KEYWORD_EXCLUSIVE_MAXIMUM;
    } else if (node->multiple_of != NC_SCHEMA_NONE && !is_multiple(e, node->multiple_of)) {
        keyword = NC_KEYWORD_MULTIPLE_OF;
    }
    if (keyword != NC_KEYWORD_NONE) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, keyword, 0));
    }
}

/* --- scalars --- */

static void check_strings(nc_evaluator *e, uint32_t first, uint32_t count) {
    uint64_t characters = UINT64_MAX;
    for (uint32_t i = first; i < count && nc_evaluator_goes_on(e); i++) {
        const nc_frame *frame = nc_frame_at(e, i);
        if (frame->state == NC_FRAME_LIVE && (frame->node->flags & NC_NODE_STRING) != 0) {
            characters = characters == UINT64_MAX ? count_characters(e->scalar) : characters;
            check_string(e, i, characters);
        }
    }
}

static void check_numbers(nc_evaluator *e, uint32_t first, uint32_t count) {
    nc_decimal number = {0};
    bool is_read = false;
    for (uint32_t i = first; i < count && nc_evaluator_goes_on(e); i++) {
        const nc_frame *frame = nc_frame_at(e, i);
        bool is_limited = (frame->node->flags & NC_NODE_NUMBER) != 0 || (frame->node->types & NC_TYPE_FRACTION) == 0;
        if (frame->state == NC_FRAME_LIVE && is_limited) {
            if (!is_read) {
                nc_decimal_feed(&number, e->scalar);
                nc_decimal_end(&number);
                is_read = true;
            }
            check_number(e, i, &number);
        }
    }
}

static bool is_listed(const nc_evaluator *e, nc_schema_list list, nc_hash128 hash) {
    for (uint32_t i = 0; i < list.count; i++) {
        if (nc_hash128_is_equal(*nc_schema_hash_at(e->schema, list.at + i), hash)) {
            return true;
        }
    }
    return false;
}

void nc_evaluator_check_hash(nc_evaluator *e, uint32_t first, nc_hash128 hash) {
    uint32_t count = nc_frame_count(e);
    for (uint32_t i = first; i < count && nc_evaluator_goes_on(e); i++) {
        const nc_frame *frame = nc_frame_at(e, i);
        const nc_schema_node *node = frame->node;
        if (frame->state != NC_FRAME_LIVE || (node->flags & NC_NODE_VALUES) == 0) {
            continue;
        }
        e->steps += node->values.count / 8;
        if (node->const_value.count > 0 && !is_listed(e, node->const_value, hash)) {
            nc_frame_fail(e, i, nc_frame_reason(e, i, NC_KEYWORD_CONST, 0));
        } else if (node->has_enum && !is_listed(e, node->values, hash)) {
            nc_frame_fail(e, i, nc_frame_reason(e, i, NC_KEYWORD_ENUM, 0));
        }
    }
}

bool nc_evaluator_needs_hash(const nc_evaluator *e, uint32_t first) {
    const nc_evaluator_level *level = nc_level_count(e) > 0 ? nc_level_top(e) : NULL;
    bool is_needed = level != NULL && (level->is_hashed || level->has_unique);
    uint32_t count = nc_frame_count(e);
    for (uint32_t i = first; i < count && !is_needed; i++) {
        is_needed = (nc_frame_at(e, i)->node->flags & NC_NODE_VALUES) != 0;
    }
    return is_needed;
}

static nc_hash128 hash_scalar(const nc_evaluator *e) {
    switch (e->kind) {
    case NC_JSON_STRING:
        return nc_value_hash_string(e->schema->key, e->scalar);
    case NC_JSON_NUMBER:
    case NC_KIND_DIGITS:
        return nc_value_hash_number(e->schema->key, e->scalar);
    default:
        return nc_value_hash_literal(e->schema->key, (nc_json_kind)e->kind);
    }
}

bool nc_evaluator_end_scalar(nc_evaluator *e, uint32_t first, nc_hash128 *hash) {
    uint32_t count = nc_frame_count(e);
    bool is_hashed = hash != NULL && nc_evaluator_needs_hash(e, first);
    nc_hash128 own = {{0, 0}};
    if (e->kind == NC_JSON_STRING) {
        check_strings(e, first, count);
    } else if (e->kind == NC_JSON_NUMBER || e->kind == NC_KIND_DIGITS) {
        check_numbers(e, first, count);
    }
    for (uint32_t i = first; i < count && !is_hashed; i++) {
        is_hashed = (nc_frame_at(e, i)->node->flags & NC_NODE_VALUES) != 0;
    }
    if (is_hashed && nc_evaluator_goes_on(e)) {
        own = hash_scalar(e);
        nc_evaluator_check_hash(e, first, own);
    }
    nc_evaluator_complete(e, first, NULL);
    if (hash != NULL) {
        *hash = own;
    }
    return nc_evaluator_goes_on(e);
}
