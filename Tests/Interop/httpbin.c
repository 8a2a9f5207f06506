#include "httpbin.h"

server httpbin;

int httpbin_start(void **state) {
    (void)state;
    servers_begin();
    server_listen(&httpbin);
    server_run(&httpbin,
               (const char *[]){INTEROP_PYTHON, "-m", "gunicorn", "--bind", "fd://3", "--worker-class", "gthread",
                                "--threads", "16", "--log-level", "warning", "--no-control-socket", "httpbin:app",
                                NULL},
               "PYTHONWARNINGS=ignore");
    return 0;
}

int httpbin_stop(void **state) {
    (void)state;
    server_stop(&httpbin);
    servers_end();
    return 0;
}

nc_request httpbin_request(fixture *f, const char *path) {
    return ask_for(f, &httpbin, "http", path);
}

nc_request httpbin_upload(fixture *f, const char *method, const char *path, const char *body) {
    nc_request request = httpbin_request(f, path);
    request.method = nc_slice_of(method);
    request.body = nc_slice_of(body);
    request.has_body = true;
    return request;
}

answer httpbin_get(fixture *f, const char *path) {
    return ask_get(f, &httpbin, path);
}
