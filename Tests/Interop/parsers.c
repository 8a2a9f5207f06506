#include "parsers.h"

#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_WORDS = 8 };

parser_cases parser_begin(void) {
    return (parser_cases){.text = nc_buf_init(64u << 20)};
}

void parser_add(parser_cases *cases, const char *word) {
    if (cases->has_word) {
        nc_buf_append_byte(&cases->text, ' ');
    }
    nc_buf_append(&cases->text, nc_slice_of(word));
    cases->has_word = true;
}

void parser_add_hex(parser_cases *cases, nc_slice bytes) {
    static const char digits[] = "0123456789abcdef";
    parser_add(cases, bytes.length == 0 ? "-" : "");
    for (size_t i = 0; i < bytes.length; i++) {
        nc_buf_append_byte(&cases->text, (uint8_t)digits[bytes.data[i] >> 4]);
        nc_buf_append_byte(&cases->text, (uint8_t)digits[bytes.data[i] & 15]);
    }
}

void parser_end_line(parser_cases *cases) {
    nc_buf_append_byte(&cases->text, '\n');
    cases->has_word = false;
}

void parser_deinit(parser_cases *cases) {
    nc_buf_deinit(&cases->text);
}

const char *parser_script(const char *name) {
    const char *slash = strrchr(__FILE__, '/');
    return server_text("%.*s/%s", (int)(slash - __FILE__), __FILE__, name);
}

bool parser_agrees(const char *const *program, const parser_cases *cases) {
    assert_status(nc_buf_status(&cases->text), NC_OK);
    FILE *file = fopen(server_path("cases"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(cases->text.data, 1, cases->text.length, file), cases->text.length);
    assert_int_equal(fclose(file), 0);
    char *words[MAX_WORDS + 2] = {NULL};
    size_t count = 0;
    for (; program[count] != NULL; count++) {
        assert_true(count < MAX_WORDS);
        words[count] = (char *)(uintptr_t)program[count];
    }
    words[count] = (char *)(uintptr_t)server_path("cases");
    pid_t pid = 0;
    // The program inherits the test's standard output and error.
    if (posix_spawnp(&pid, words[0], NULL, NULL, words, environ) != 0) {
        fail_msg("%s does not start", words[0]);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
