/* The reference for large responses: plain libcurl with a receive buffer of 512 KiB.
 *
 *     raw save URL BYTES FILE
 *     raw stream URL BYTES          discards the body; both check that BYTES bytes arrived */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_only(char *data, size_t size, size_t count, void *context) {
    (void)data;
    (void)context;
    return size * count;
}

static bool perform(CURL *easy, const char *url, FILE *file, curl_off_t expected) {
    curl_off_t received = 0;
    long status = 0;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 512L * 1024);
    if (file != NULL) {
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, file);
    } else {
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_only);
    }
    CURLcode code = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK || status != 200 || received != expected) {
        fprintf(stderr, "raw: %s, status %ld, %lld bytes\n", curl_easy_strerror(code), status, (long long)received);
        return false;
    }
    return true;
}

int main(int argc, char *argv[]) {
    bool saves = argc == 5 && strcmp(argv[1], "save") == 0;
    if (!saves && !(argc == 4 && strcmp(argv[1], "stream") == 0)) {
        fprintf(stderr, "usage: raw save URL BYTES FILE | stream URL BYTES\n");
        return 2;
    }
    FILE *file = saves ? fopen(argv[4], "wb") : NULL;
    CURL *easy = curl_easy_init();
    bool is_done = easy != NULL && saves == (file != NULL) && perform(easy, argv[2], file, atoll(argv[3]));
    is_done = (file == NULL || fclose(file) == 0) && is_done;
    curl_easy_cleanup(easy);
    return is_done ? 0 : 1;
}
