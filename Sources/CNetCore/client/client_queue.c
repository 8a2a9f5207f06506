#include "client/internal.h"

void nc_client_post(nc_client *client, nc_message *message) {
    pthread_mutex_lock(&client->mutex);
    nc_list_append(&client->inbox, &message->link);
    pthread_cond_signal(&client->has_mail);
    pthread_mutex_unlock(&client->mutex);
}

bool nc_client_enter(nc_client *client) {
    pthread_mutex_lock(&client->mutex);
    bool is_open = !client->is_closing;
    client->busy += is_open ? 1 : 0;
    pthread_mutex_unlock(&client->mutex);
    return is_open;
}

void nc_client_enter_more(nc_client *client) {
    pthread_mutex_lock(&client->mutex);
    client->busy++;
    pthread_mutex_unlock(&client->mutex);
}

void nc_client_leave(nc_client *client) {
    pthread_mutex_lock(&client->mutex);
    if (--client->busy == 0) {
        pthread_cond_broadcast(&client->is_idle);
    }
    pthread_mutex_unlock(&client->mutex);
}

uint64_t nc_client_now_ms(const nc_client *client) {
    return client->clock.monotonic_ns(client->clock.ctx) / 1000000u;
}
