#include "harness.h"

#include "schema/tree.h"

#include <dirent.h>
#include <netcore/schema.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The official suite of JSON Schema: https://github.com/json-schema-org/JSON-Schema-Test-Suite

enum { MAX_REMOTES = 512, MAX_FILE_BYTES = 8 * 1024 * 1024, MAX_PATH = 512 };

typedef struct suite {
    char root[MAX_PATH];
    nc_schema_document remotes[MAX_REMOTES];
    nc_buf uris[MAX_REMOTES];
    nc_buf texts[MAX_REMOTES];
    size_t remote_count;
    size_t right;
    size_t wrong;
} suite;

static bool has_directory(const char *root) {
    struct stat status;
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/tests/draft2020-12", root);
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/// Finds the suite: where NETCORE_JSON_SCHEMA_SUITE says, where script/bootstrap puts it, or where Debian's package is.
static bool find_suite(suite *s) {
    const char *const roots[] = {getenv("NETCORE_JSON_SCHEMA_SUITE"), NETCORE_SCHEMA_SUITE,
                                 "/usr/share/json-schema-test-suite"};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        if (roots[i] != NULL && has_directory(roots[i])) {
            snprintf(s->root, sizeof s->root, "%s", roots[i]);
            return true;
        }
    }
    const char *ci = getenv("CI");
    if (ci != NULL && strcmp(ci, "true") == 0) {
        fail_msg("the suite of JSON Schema is missing: run script/bootstrap --tests");
    }
    printf("the suite of JSON Schema is missing, so nothing was tested: run script/bootstrap --tests\n");
    return false;
}

static nc_buf read_file(const char *path) {
    nc_buf text = nc_buf_init(MAX_FILE_BYTES);
    FILE *file = fopen(path, "rb");
    char part[65536];
    assert_non_null(file);
    for (size_t count; (count = fread(part, 1, sizeof part, file)) > 0;) {
        nc_buf_append(&text, nc_slice_make(part, count));
    }
    fclose(file);
    assert_int_equal(nc_buf_status(&text), NC_OK);
    return text;
}

/// Calls a function for each .json file of a folder, in any order; `depth` folders deep.
static void for_each_file(suite *s, const char *folder, int depth, void (*call)(suite *, const char *)) {
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[MAX_PATH * 2];
        size_t length = strlen(entry->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0) {
            call(s, path);
        } else if (depth > 0 && entry->d_name[0] != '.') {
            for_each_file(s, path, depth - 1, call);
        }
    }
    closedir(directory);
}

static void add_remote(suite *s, const char *path) {
    size_t at = s->remote_count;
    assert_true(at < MAX_REMOTES);
    s->texts[at] = read_file(path);
    s->uris[at] = nc_buf_init(1024);
    nc_buf_append(&s->uris[at], nc_slice_of("http://localhost:1234"));
    nc_buf_append(&s->uris[at], nc_slice_of(strstr(path, "/remotes") + strlen("/remotes")));
    s->remotes[at] = (nc_schema_document){nc_buf_slice(&s->uris[at]), nc_buf_slice(&s->texts[at])};
    s->remote_count++;
}

static nc_slice raw_of(const nc_buf *file, const nc_tree_value *value) {
    return nc_slice_make(file->data + value->offset, (size_t)(value->end - value->offset));
}

static nc_status check_in_bytes(nc_schema *schema, nc_slice text, nc_error *err) {
    nc_json *check = NULL;
    nc_status status = nc_json_new_with_schema(&check, schema, NULL, NULL, err);
    for (size_t i = 0; i < text.length && status == NC_OK; i++) {
        status = nc_json_feed(check, nc_slice_make(text.data + i, 1), err);
    }
    status = status == NC_OK ? nc_json_finish(check, err) : status;
    nc_json_free(check);
    return status;
}

static void run_case(suite *s, const char *path, nc_schema *schema, const nc_buf *file, const nc_tree_value *group,
                     const nc_tree_value *one) {
    nc_slice data = raw_of(file, nc_tree_member_named(one, "data"));
    bool is_valid = nc_tree_member_named(one, "valid")->kind == NC_JSON_TRUE;
    nc_slice about = nc_tree_member_named(group, "description")->text;
    nc_slice title = nc_tree_member_named(one, "description")->text;
    nc_error whole;
    nc_error bytes;
    nc_status status = nc_schema_check(schema, data, NULL, NULL, &whole);
    nc_status other = check_in_bytes(schema, data, &bytes);
    nc_status expected = is_valid ? NC_OK : NC_ERR_SHAPE_MISMATCH;
    if (status == expected && other == expected) {
        s->right++;
        return;
    }
    s->wrong++;
    printf("%s: %.*s: %.*s: %s, %s in bytes instead of %s\n", path, (int)about.length, (const char *)about.data,
           (int)title.length, (const char *)title.data, nc_status_name(status), nc_status_name(other),
           nc_status_name(expected));
}

static void run_group(suite *s, const char *path, const nc_buf *file, const nc_tree_value *group) {
    nc_error err;
    nc_schema *schema = NULL;
    const nc_tree_value *tests = nc_tree_member_named(group, "tests");
    nc_schema_options options = {.documents = s->remotes, .document_count = s->remote_count};
    options.asserts_formats = strstr(path, "/optional/format/") != NULL;
    if (nc_schema_compile(&schema, raw_of(file, nc_tree_member_named(group, "schema")), &options, &err) != NC_OK) {
        printf("%s: %.*s: %s\n", path, (int)nc_tree_member_named(group, "description")->text.length,
               (const char *)nc_tree_member_named(group, "description")->text.data, err.message);
        s->wrong += tests->count;
        return;
    }
    for (const nc_tree_value *one = tests->first; one != NULL; one = one->next) {
        run_case(s, path, schema, file, group, one);
    }
    nc_schema_release(schema);
}

static void run_file(suite *s, const char *path) {
    nc_buf file = read_file(path);
    nc_tree tree;
    nc_error err;
    assert_int_equal(nc_tree_read(&tree, nc_buf_slice(&file), &err), NC_OK);
    for (const nc_tree_value *group = tree.root->first; group != NULL; group = group->next) {
        run_group(s, path, &file, group);
    }
    nc_tree_deinit(&tree);
    nc_buf_deinit(&file);
}

/// Runs the files of a folder. Returns false if there is no suite.
static bool run(suite *s, const char *folder, int depth) {
    char path[MAX_PATH * 2];
    *s = (suite){0};
    if (!find_suite(s)) {
        return false;
    }
    snprintf(path, sizeof path, "%s/remotes", s->root);
    for_each_file(s, path, 4, add_remote);
    snprintf(path, sizeof path, "%s/tests/draft2020-12%s", s->root, folder);
    for_each_file(s, path, depth, run_file);
    for (size_t i = 0; i < s->remote_count; i++) {
        nc_buf_deinit(&s->uris[i]);
        nc_buf_deinit(&s->texts[i]);
    }
    printf("%s: %zu right, %zu wrong\n", folder[0] == '\0' ? "required" : "optional", s->right, s->wrong);
    return true;
}

static void suite__every_required_case_is_right(void **state) {
    (void)state;
    static suite s;
    if (run(&s, "", 0)) {
        assert_int_equal(s.wrong, 0);
        assert_true(s.right > 1000);
    }
}

static void suite__nearly_all_optional_cases_are_right(void **state) {
    (void)state;
    static suite s;
    if (run(&s, "/optional", 1)) {
        assert_true(s.right > 500);
        assert_true(s.right * 926 >= (s.right + s.wrong) * 850);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(suite__every_required_case_is_right),
        harness_case(suite__nearly_all_optional_cases_are_right),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
