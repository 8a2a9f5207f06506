#include "net/origin.h"

#include <curl/curl.h>
#include <stdlib.h>

static CURLUcode read_host(char **host, CURLU *handle, const char *url) {
    CURLUcode code = curl_url_set(handle, CURLUPART_URL, url, 0);
    if (code == CURLUE_OK) {
        // An international name in the form in which certificates and rules have it; without IDN there is none.
        code = curl_url_get(handle, CURLUPART_HOST, host, CURLU_PUNYCODE);
        code = code == CURLUE_LACKS_IDN ? curl_url_get(handle, CURLUPART_HOST, host, 0) : code;
    }
    return code;
}

static CURLUcode read_parts(char **host, char **port, CURLU *handle, const char *url) {
    CURLUcode code = read_host(host, handle, url);
    return code == CURLUE_OK ? curl_url_get(handle, CURLUPART_PORT, port, CURLU_DEFAULT_PORT) : code;
}

static nc_status status_of(CURLUcode code) {
    if (code == CURLUE_OUT_OF_MEMORY) {
        return NC_ERR_NO_MEMORY;
    }
    return code == CURLUE_OK ? NC_OK : NC_ERR_BAD_URL;
}

nc_status nc_origin_of(nc_origin *out, const char *url) {
    char *host = NULL;
    char *port = NULL;
    nc_origin origin = {.port = 0};
    CURLU *handle = curl_url();
    CURLUcode code = handle != NULL ? read_parts(&host, &port, handle, url) : CURLUE_OUT_OF_MEMORY;
    if (code == CURLUE_OK) {
        if (!nc_host_name_parse(&origin.host, nc_slice_of(host))) {
            origin.host = (nc_host_name){.length = 0};
        }
        origin.port = (uint16_t)strtoul(port, NULL, 10);
        *out = origin;
    }
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(handle);
    return status_of(code);
}

nc_status nc_origin_host(nc_buf *out, uint16_t *port, const char *url) {
    char *host = NULL;
    char *digits = NULL;
    CURLU *handle = curl_url();
    CURLUcode code = handle == NULL ? CURLUE_OUT_OF_MEMORY
                     : port == NULL ? read_host(&host, handle, url)
                                    : read_parts(&host, &digits, handle, url);
    if (code == CURLUE_OK) {
        nc_buf_append(out, nc_slice_of(host));
    }
    if (code == CURLUE_OK && port != NULL) {
        *port = (uint16_t)strtoul(digits, NULL, 10);
    }
    curl_free(host);
    curl_free(digits);
    curl_url_cleanup(handle);
    return code == CURLUE_OK ? nc_buf_status(out) : status_of(code);
}
