/// Writes the documents of the JSON benchmark and their shapes: documents FOLDER [SEED].
///
/// tweets: 600 KB, text-heavy, half of it Japanese; catalogue: 1.7 MB, many names and small numbers; coordinates:
/// 2.2 MB, nearly only long numbers; small: 600 B. The same seed gives the same bytes.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static FILE *out;
static int depth;
static int step; // spaces of indentation; 0 writes no white space
static int is_first = 1;

static uint64_t chance(uint64_t below) {
    state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % below;
}

static void begin_line(void) {
    if (!is_first) {
        fputc(',', out);
    }
    if (step > 0 && depth > 0) {
        fprintf(out, "\n%*s", depth * step, "");
    }
    is_first = 0;
}

static void begin_member(const char *name) {
    begin_line();
    if (name != NULL) {
        fprintf(out, step > 0 ? "\"%s\": " : "\"%s\":", name);
    }
}

static void value(const char *name, const char *format, ...) {
    va_list arguments;
    begin_member(name);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
}

static void open_container(const char *name, char bracket) {
    begin_member(name);
    fputc(bracket, out);
    depth++;
    is_first = 1;
}

static void close_container(char bracket) {
    depth--;
    if (step > 0 && !is_first) {
        fprintf(out, "\n%*s", depth * step, "");
    }
    fputc(bracket, out);
    is_first = 0;
}

static void text(const char *name, int words) {
    static const char *const latin[] = {
        "the",  "day", "RT",   "@aym0566x:", "time", "of",        "http:\\/\\/t.co\\/3q0hDYNf", "and", "you",
        "nice", "\\n", "love", "#news",      "for",  "\\\"so\\\""};
    static const char *const japanese[] = {
        "名前",   "前田あゆみ", "第一印象", "なんか怖っ",       "今の印象", "とりあえずキモい", "好きなところ", "。",
        "思い出", "「",         "」",       "いつもありがとう", "!"};
    int is_latin = chance(2) == 0;
    begin_member(name);
    fputc('"', out);
    for (int i = 0; i < words; i++) {
        fputs(is_latin ? latin[chance(15)] : japanese[chance(13)], out);
        if (is_latin && i + 1 < words) {
            fputc(' ', out);
        }
    }
    fputc('"', out);
}

/* --- tweets --- */

static void user(void) {
    uint64_t id = 100000000 + chance(2000000000);
    open_container("user", '{');
    value("id", "%" PRIu64, id);
    value("id_str", "\"%" PRIu64 "\"", id);
    text("name", 2);
    value("screen_name", "\"user%" PRIu64 "\"", chance(100000));
    value("location", "\"\"");
    text("description", 12);
    value("url", "null");
    open_container("entities", '{');
    open_container("description", '{');
    open_container("urls", '[');
    close_container(']');
    close_container('}');
    close_container('}');
    value("protected", "false");
    value("followers_count", "%" PRIu64, chance(5000));
    value("friends_count", "%" PRIu64, chance(5000));
    value("listed_count", "%" PRIu64, chance(50));
    value("created_at", "\"Sun Aug 31 00:29:%02d +0000 2014\"", (int)chance(60));
    value("favourites_count", "%" PRIu64, chance(5000));
    value("utc_offset", chance(2) == 0 ? "null" : "32400");
    value("time_zone", "null");
    value("geo_enabled", "false");
    value("verified", "false");
    value("statuses_count", "%" PRIu64, chance(50000));
    value("lang", "\"ja\"");
    value("contributors_enabled", "false");
    value("is_translator", "false");
    value("profile_background_color", "\"C0DEED\"");
    value("profile_background_image_url", "\"http:\\/\\/abs.twimg.com\\/images\\/themes\\/theme1\\/bg.png\"");
    value("profile_image_url", "\"http:\\/\\/pbs.twimg.com\\/profile_images\\/%" PRIu64 "\\/MUGV3bS_normal.jpeg\"", id);
    value("profile_link_color", "\"0084B4\"");
    value("profile_use_background_image", "true");
    value("default_profile", "%s", chance(2) == 0 ? "true" : "false");
    value("following", "false");
    value("notifications", "false");
    close_container('}');
}

static void tweet(void) {
    uint64_t id = UINT64_C(505874924095815681) + chance(1000000);
    open_container(NULL, '{');
    open_container("metadata", '{');
    value("result_type", "\"recent\"");
    value("iso_language_code", "\"ja\"");
    close_container('}');
    value("created_at", "\"Sun Aug 31 00:29:%02d +0000 2014\"", (int)chance(60));
    value("id", "%" PRIu64, id);
    value("id_str", "\"%" PRIu64 "\"", id);
    text("text", 14);
    value(
        "source",
        "\"<a href=\\\"http:\\/\\/twitter.com\\/download\\/iphone\\\" rel=\\\"nofollow\\\">Twitter for iPhone<\\/a>\"");
    value("truncated", "false");
    value("in_reply_to_status_id", "null");
    value("in_reply_to_screen_name", chance(2) == 0 ? "null" : "\"aym0566x\"");
    user();
    value("geo", "null");
    value("coordinates", "null");
    value("place", "null");
    value("retweet_count", "%" PRIu64, chance(100));
    value("favorite_count", "%" PRIu64, chance(100));
    open_container("entities", '{');
    open_container("hashtags", '[');
    close_container(']');
    open_container("user_mentions", '[');
    open_container(NULL, '{');
    value("screen_name", "\"aym0566x\"");
    text("name", 2);
    value("id", "866260188");
    open_container("indices", '[');
    value(NULL, "0");
    value(NULL, "9");
    close_container(']');
    close_container('}');
    close_container(']');
    close_container('}');
    value("favorited", "false");
    value("retweeted", "false");
    value("lang", "\"ja\"");
    close_container('}');
}

static const char tweets_shape[] =
    "{\"statuses\":[{\"created_at\":\"string\",\"id\":\"integer\",\"id_str\":\"string\",\"text\":\"string\","
    "\"truncated\":\"boolean\",\"in_reply_to_screen_name\":\"string?\",\"user\":{\"id\":\"integer\","
    "\"name\":\"string\",\"screen_name\":\"string\",\"description\":\"string\",\"url\":\"string?\","
    "\"followers_count\":\"integer\",\"friends_count\":\"integer\",\"created_at\":\"string\","
    "\"verified\":\"boolean\",\"profile_image_url\":\"string\",\"following?\":\"boolean\"},"
    "\"retweet_count\":\"integer\",\"entities\":{\"user_mentions\":[{\"screen_name\":\"string\","
    "\"indices\":[\"integer\"]}]},\"lang?\":\"string\"}],\"search_metadata\":{\"count\":\"integer\"}}";

static void tweets(void) {
    step = 2;
    open_container(NULL, '{');
    open_container("statuses", '[');
    while (ftell(out) < 600000) {
        tweet();
    }
    close_container(']');
    open_container("search_metadata", '{');
    value("completed_in", "0.087");
    value("count", "100");
    close_container('}');
    close_container('}');
}

/* --- catalogue --- */

static void performance(void) {
    open_container(NULL, '{');
    value("eventId", "%" PRIu64, 138586341 + chance(1000));
    value("id", "%" PRIu64, 339887544 + chance(1000));
    value("logo", chance(2) == 0 ? "null" : "\"/images/UE0AAAAACEKo6QAAAAZDSVRN\"");
    value("name", "null");
    open_container("prices", '[');
    for (int i = 0; i < 3; i++) {
        open_container(NULL, '{');
        value("amount", "%" PRIu64, 10000 + chance(200) * 250);
        value("audienceSubCategoryId", "337100890");
        value("seatCategoryId", "%" PRIu64, 338937235 + chance(100));
        close_container('}');
    }
    close_container(']');
    open_container("seatCategories", '[');
    for (int i = 0; i < 3; i++) {
        open_container(NULL, '{');
        open_container("areas", '[');
        for (int k = 0; k < 4; k++) {
            open_container(NULL, '{');
            value("areaId", "%" PRIu64, 205705993 + chance(100));
            open_container("blockIds", '[');
            close_container(']');
            close_container('}');
        }
        close_container(']');
        value("seatCategoryId", "%" PRIu64, 338937235 + chance(100));
        close_container('}');
    }
    close_container(']');
    value("seatMapImage", "null");
    value("start", "%" PRIu64, UINT64_C(1372701600000) + chance(100000));
    value("venueCode", "\"PLEYEL_PLEYEL\"");
    close_container('}');
}

static const char catalogue_shape[] =
    "{\"performances\":[{\"eventId\":\"integer\",\"id\":\"integer\",\"logo\":\"string?\",\"name\":\"string?\","
    "\"prices\":[{\"amount\":\"integer\",\"seatCategoryId\":\"integer\"}],\"seatCategories\":[{"
    "\"areas\":[{\"areaId\":\"integer\",\"blockIds\":[]}],\"seatCategoryId\":\"integer\"}],"
    "\"start\":\"integer\",\"venueCode\":\"string\"}]}";

static void catalogue(void) {
    step = 4;
    open_container(NULL, '{');
    open_container("areaNames", '{');
    for (int i = 0; i < 17; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d", 205705993 + i);
        value(name, "\"Arrière-scène %d\"", i);
    }
    close_container('}');
    open_container("performances", '[');
    while (ftell(out) < 1700000) {
        performance();
    }
    close_container(']');
    close_container('}');
}

/* --- coordinates and small ones --- */

static const char coordinates_shape[] =
    "{\"type\":\"string\",\"features\":[{\"type\":\"string\",\"geometry\":{\"type\":\"string\","
    "\"coordinates\":[[[\"number\"]]]}}]}";

static void coordinates(void) {
    step = 0;
    open_container(NULL, '{');
    value("type", "\"FeatureCollection\"");
    open_container("features", '[');
    open_container(NULL, '{');
    value("type", "\"Feature\"");
    open_container("geometry", '{');
    value("type", "\"Polygon\"");
    open_container("coordinates", '[');
    while (ftell(out) < 2200000) {
        open_container(NULL, '[');
        for (uint64_t left = 20 + chance(200); left > 0; left--) {
            open_container(NULL, '[');
            value(NULL, "-%" PRIu64 ".%015" PRIu64, 52 + chance(90), chance(UINT64_C(1000000000000000)));
            value(NULL, "%" PRIu64 ".%015" PRIu64, 41 + chance(42), chance(UINT64_C(1000000000000000)));
            close_container(']');
        }
        close_container(']');
    }
    close_container(']');
    close_container('}');
    close_container('}');
    close_container(']');
    close_container('}');
}

static const char small_shape[] =
    "{\"id\":\"integer\",\"name\":\"string\",\"email\":\"string\",\"isActive\":\"boolean\",\"score\":\"number\","
    "\"tags\":[\"string\"],\"address\":{\"street\":\"string\",\"city\":\"string\",\"geo\":[\"number\"]},"
    "\"note?\":\"string?\"}";

static void small(void) {
    step = 0;
    open_container(NULL, '{');
    value("id", "%" PRIu64, 100000 + chance(900000));
    value("name", "\"Ayumi Maeda\"");
    value("email", "\"ayumi.maeda@example.com\"");
    value("isActive", "true");
    value("score", "87.25");
    open_container("tags", '[');
    value(NULL, "\"first\"");
    value(NULL, "\"second\"");
    value(NULL, "\"third\"");
    close_container(']');
    open_container("address", '{');
    value("street", "\"1-2-3 Jingumae\"");
    value("city", "\"東京\"");
    open_container("geo", '[');
    value(NULL, "35.6696");
    value(NULL, "139.7083");
    close_container(']');
    close_container('}');
    value("note", "null");
    value("description", "\"%s\"",
          "A customer who has been with us since the very first day, and who wrote in \\\"the book\\\" that "
          "every parcel came in time; one was wet.\\nCall back in the morning. Prefers letters to calls, and "
          "calls to messages. Orders tea, ink and paper twice a year.");
    value("createdAt", "\"2014-08-31T00:29:15Z\"");
    close_container('}');
}

/* --- schemas: what the shapes say, as JSON Schema --- */

static const char tweets_schema[] =
    "{\"type\":\"object\",\"properties\":{\"statuses\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"p"
    "roperties\":{\"created_at\":{\"type\":\"string\"},\"id\":{\"type\":\"integer\"},\"id_str\":{\"type\":\"s"
    "tring\"},\"text\":{\"type\":\"string\"},\"truncated\":{\"type\":\"boolean\"},\"in_reply_to_screen_name\""
    ":{\"type\":[\"string\",\"null\"]},\"user\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integ"
    "er\"},\"name\":{\"type\":\"string\"},\"screen_name\":{\"type\":\"string\"},\"description\":{\"type\":\"s"
    "tring\"},\"url\":{\"type\":[\"string\",\"null\"]},\"followers_count\":{\"type\":\"integer\"},\"friends_c"
    "ount\":{\"type\":\"integer\"},\"created_at\":{\"type\":\"string\"},\"verified\":{\"type\":\"boolean\"},"
    "\"profile_image_url\":{\"type\":\"string\"},\"following\":{\"type\":\"boolean\"}},\"required\":[\"id\","
    "\"name\",\"screen_name\",\"description\",\"url\",\"followers_count\",\"friends_count\",\"created_at\",\""
    "verified\",\"profile_image_url\"]},\"retweet_count\":{\"type\":\"integer\"},\"entities\":{\"type\":\"obj"
    "ect\",\"properties\":{\"user_mentions\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties"
    "\":{\"screen_name\":{\"type\":\"string\"},\"indices\":{\"type\":\"array\",\"items\":{\"type\":\"integer"
    "\"}}},\"required\":[\"screen_name\",\"indices\"]}}},\"required\":[\"user_mentions\"]},\"lang\":{\"type\""
    ":\"string\"}},\"required\":[\"created_at\",\"id\",\"id_str\",\"text\",\"truncated\",\"in_reply_to_screen"
    "_name\",\"user\",\"retweet_count\",\"entities\"]}},\"search_metadata\":{\"type\":\"object\",\"properties"
    "\":{\"count\":{\"type\":\"integer\"}},\"required\":[\"count\"]}},\"required\":[\"statuses\",\"search_met"
    "adata\"]}";

static const char catalogue_schema[] =
    "{\"type\":\"object\",\"properties\":{\"performances\":{\"type\":\"array\",\"items\":{\"type\":\"object\""
    ",\"properties\":{\"eventId\":{\"type\":\"integer\"},\"id\":{\"type\":\"integer\"},\"logo\":{\"type\":[\""
    "string\",\"null\"]},\"name\":{\"type\":[\"string\",\"null\"]},\"prices\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"object\",\"properties\":{\"amount\":{\"type\":\"integer\"},\"seatCategoryId\":{\"type\":\"int"
    "eger\"}},\"required\":[\"amount\",\"seatCategoryId\"]}},\"seatCategories\":{\"type\":\"array\",\"items\""
    ":{\"type\":\"object\",\"properties\":{\"areas\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"pro"
    "perties\":{\"areaId\":{\"type\":\"integer\"},\"blockIds\":{\"type\":\"array\"}},\"required\":[\"areaId\""
    ",\"blockIds\"]}},\"seatCategoryId\":{\"type\":\"integer\"}},\"required\":[\"areas\",\"seatCategoryId\"]}"
    "},\"start\":{\"type\":\"integer\"},\"venueCode\":{\"type\":\"string\"}},\"required\":[\"eventId\",\"id\""
    ",\"logo\",\"name\",\"prices\",\"seatCategories\",\"start\",\"venueCode\"]}}},\"required\":[\"performance"
    "s\"]}";

static const char coordinates_schema[] =
    "{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\"},\"features\":{\"type\":\"array\",\"i"
    "tems\":{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\"},\"geometry\":{\"type\":\"obje"
    "ct\",\"properties\":{\"type\":{\"type\":\"string\"},\"coordinates\":{\"type\":\"array\",\"items\":{\"typ"
    "e\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}}}}},\"required\":[\"type\","
    "\"coordinates\"]}},\"required\":[\"type\",\"geometry\"]}}},\"required\":[\"type\",\"features\"]}";

static const char small_schema[] =
    "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\"},\"emai"
    "l\":{\"type\":\"string\"},\"isActive\":{\"type\":\"boolean\"},\"score\":{\"type\":\"number\"},\"tags\":{"
    "\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"address\":{\"type\":\"object\",\"properties\":{\"s"
    "treet\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"},\"geo\":{\"type\":\"array\",\"items\":{\"ty"
    "pe\":\"number\"}}},\"required\":[\"street\",\"city\",\"geo\"]},\"note\":{\"type\":[\"string\",\"null\"]}"
    "},\"required\":[\"id\",\"name\",\"email\",\"isActive\",\"score\",\"tags\",\"address\"]}";

static void write_text(const char *folder, const char *name, const char *suffix, const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
    out = fopen(path, "wb");
    if (out == NULL || fputs(text, out) < 0 || fclose(out) != 0) {
        exit(1);
    }
}

static void write_file(const char *folder, const char *name, void (*write)(void), const char *shape,
                       const char *schema) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    out = fopen(path, "wb");
    depth = 0;
    is_first = 1;
    if (out == NULL || (write(), fclose(out)) != 0) {
        exit(1);
    }
    write_text(folder, name, "shape", shape);
    write_text(folder, name, "schema", schema);
}

int main(int count, char **arguments) {
    if (count < 2) {
        return 2;
    }
    state = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    write_file(arguments[1], "tweets", tweets, tweets_shape, tweets_schema);
    write_file(arguments[1], "catalogue", catalogue, catalogue_shape, catalogue_schema);
    write_file(arguments[1], "coordinates", coordinates, coordinates_shape, coordinates_schema);
    write_file(arguments[1], "small", small, small_shape, small_schema);
    return 0;
}
