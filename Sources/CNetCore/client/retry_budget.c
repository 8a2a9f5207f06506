#include "base/alloc.h"

#include <netcore/retry.h>
#include <pthread.h>

struct nc_retry_budget {
    pthread_mutex_t mutex;
    double per_call;
    double maximum;
    double available;
};

nc_status nc_retry_budget_new(nc_retry_budget **out, double per_call, uint32_t reserve) {
    if (!(per_call >= 0 && per_call <= 1000)) {
        return NC_ERR_USAGE;
    }
    nc_retry_budget *budget = nc_alloc_zeroed(1, sizeof *budget);
    if (budget == NULL || pthread_mutex_init(&budget->mutex, NULL) != 0) {
        nc_free(budget);
        return NC_ERR_NO_MEMORY;
    }
    budget->per_call = per_call;
    budget->maximum = reserve;
    budget->available = reserve;
    *out = budget;
    return NC_OK;
}

void nc_retry_budget_free(nc_retry_budget *budget) {
    if (budget != NULL) {
        pthread_mutex_destroy(&budget->mutex);
        nc_free(budget);
    }
}

void nc_retry_budget_add(nc_retry_budget *budget) {
    pthread_mutex_lock(&budget->mutex);
    double sum = budget->available + budget->per_call;
    budget->available = sum < budget->maximum ? sum : budget->maximum;
    pthread_mutex_unlock(&budget->mutex);
}

bool nc_retry_budget_take(nc_retry_budget *budget) {
    pthread_mutex_lock(&budget->mutex);
    // The tolerance is for rounding: five times 0.2 may be a little less than 1.
    bool has_one = budget->available > 1 - 1e-9;
    if (has_one) {
        budget->available = budget->available > 1 ? budget->available - 1 : 0;
    }
    pthread_mutex_unlock(&budget->mutex);
    return has_one;
}

uint32_t nc_retry_budget_remaining(const nc_retry_budget *budget) {
    nc_retry_budget *own = (nc_retry_budget *)budget;
    pthread_mutex_lock(&own->mutex);
    uint32_t whole = (uint32_t)budget->available;
    pthread_mutex_unlock(&own->mutex);
    return whole;
}
