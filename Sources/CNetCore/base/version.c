#include <netcore/base.h>

#define NC_TEXT_OF(number) #number
#define NC_TEXT_OF_VALUE(macro) NC_TEXT_OF(macro)

const char *nc_version(void) {
    return NC_TEXT_OF_VALUE(NC_VERSION_MAJOR) "." NC_TEXT_OF_VALUE(NC_VERSION_MINOR) "." NC_TEXT_OF_VALUE(
        NC_VERSION_PATCH);
}
