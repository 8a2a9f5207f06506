#include "schema/regex_program.h"

#include "base/ascii.h"

// Two sets of states are simulated: those before the current character, and those after it. A set has its members in
// the order of insertion (`dense`), and the position of each state in that order (`sparse`), which needs no clearing.

typedef struct state_set {
    uint32_t *dense;
    uint32_t *sparse;
    uint32_t count;
} state_set;

/// A running match.
typedef struct match {
    const nc_regex *regex;
    uint32_t *pending; // states to add
    bool is_at_start;
    bool is_at_end;
    bool is_at_boundary; // between a word character and another one
    uint64_t steps;
} match;

size_t nc_regex_scratch(const nc_regex *regex) {
    return (size_t)regex->count * 6;
}

static bool has_state(const state_set *set, uint32_t state) {
    uint32_t at = set->sparse[state];
    return at < set->count && set->dense[at] == state;
}

static bool is_word(uint32_t point) {
    return point < 128 && (nc_ascii_is_alpha((uint8_t)point) || nc_ascii_is_digit((uint8_t)point) || point == '_');
}

static bool is_in_ranges(const nc_regex *regex, const nc_regex_class *class, uint32_t point) {
    const nc_regex_range *ranges = (const nc_regex_range *)(const void *)regex->ranges.data + class->at;
    size_t low = 0;
    size_t high = class->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (point > ranges[middle].last) {
            low = middle + 1;
        } else if (point < ranges[middle].first) {
            high = middle;
        } else {
            return true;
        }
    }
    return false;
}

static bool is_in_class(const nc_regex *regex, uint32_t index, uint32_t point) {
    const nc_regex_class *class = (const nc_regex_class *)(const void *)regex->classes.data + index;
    bool is_listed =
        point < 128 ? (class->ascii[point / 64] >> (point % 64) & 1) != 0 : is_in_ranges(regex, class, point);
    return is_listed != class->is_negated;
}

/// Returns true if an assertion holds here.
static bool holds(const match *m, uint32_t op) {
    switch (op) {
    case NC_REGEX_BEGIN:
        return m->is_at_start;
    case NC_REGEX_END:
        return m->is_at_end;
    case NC_REGEX_BOUNDARY:
        return m->is_at_boundary;
    default:
        return !m->is_at_boundary;
    }
}

/// Marks a state that was not added yet, and schedules it.
static uint32_t schedule(state_set *set, uint32_t *pending, uint32_t count, uint32_t state) {
    if (!has_state(set, state)) {
        set->sparse[state] = set->count;
        set->dense[set->count++] = state;
        pending[count++] = state;
    }
    return count;
}

/// Adds a state and all that it leads to without a character. Returns true if the match is complete.
static bool add_state(match *m, state_set *set, uint32_t state) {
    const nc_regex_step *steps = nc_regex_steps(m->regex);
    uint32_t count = schedule(set, m->pending, 0, state);
    while (count > 0) {
        uint32_t at = m->pending[--count];
        const nc_regex_step *step = &steps[at];
        m->steps++;
        if (step->op == NC_REGEX_MATCH) {
            return true;
        }
        if (step->op == NC_REGEX_SPLIT) {
            count = schedule(set, m->pending, count, (uint32_t)((int64_t)at + step->y));
            count = schedule(set, m->pending, count, (uint32_t)((int64_t)at + step->x));
        } else if (step->op == NC_REGEX_JUMP) {
            count = schedule(set, m->pending, count, (uint32_t)((int64_t)at + step->x));
        } else if (step->op >= NC_REGEX_BEGIN && holds(m, step->op)) {
            count = schedule(set, m->pending, count, at + 1);
        }
    }
    return false;
}

/// Adds to `next` what follows the states of `current` after a character. Returns true if the match is complete.
static bool advance(match *m, const state_set *current, state_set *next, uint32_t point) {
    const nc_regex_step *steps = nc_regex_steps(m->regex);
    next->count = 0;
    m->steps += current->count;
    for (uint32_t i = 0; i < current->count; i++) {
        const nc_regex_step *step = &steps[current->dense[i]];
        bool is_equal = step->op == NC_REGEX_CHAR    ? (uint32_t)step->x == point
                        : step->op == NC_REGEX_CLASS ? is_in_class(m->regex, (uint32_t)step->x, point)
                                                     : false;
        if (is_equal && add_state(m, next, current->dense[i] + 1)) {
            return true;
        }
    }
    return false;
}

/// Sets what the assertions depend on, at text[at].
static void look_around(match *m, nc_slice text, size_t at, bool was_word) {
    size_t next = at;
    m->is_at_start = at == 0;
    m->is_at_end = at == text.length;
    m->is_at_boundary = was_word != (at < text.length && is_word(nc_regex_code_point(text, &next)));
}

int nc_regex_match(const nc_regex *regex, nc_slice text, uint32_t *scratch, uint64_t *budget) {
    size_t size = regex->count;
    state_set sets[2] = {{scratch, scratch + size, 0}, {scratch + size * 2, scratch + size * 3, 0}};
    match m = {.regex = regex, .pending = scratch + size * 4};
    state_set *current = &sets[0];
    state_set *next = &sets[1];
    size_t at = 0;
    look_around(&m, text, 0, false);
    bool is_match = add_state(&m, current, 0);
    while (!is_match && at < text.length && m.steps <= *budget) {
        uint32_t point = nc_regex_code_point(text, &at);
        bool was_word = is_word(point);
        look_around(&m, text, at, was_word);
        is_match = advance(&m, current, next, point) || (!regex->is_anchored && add_state(&m, next, 0));
        state_set *swapped = current;
        current = next;
        next = swapped;
        if (current->count == 0) {
            break; // no match can begin any more
        }
    }
    bool is_exhausted = m.steps > *budget;
    *budget = is_exhausted ? 0 : *budget - m.steps;
    return is_match ? 1 : is_exhausted ? -1 : 0;
}
