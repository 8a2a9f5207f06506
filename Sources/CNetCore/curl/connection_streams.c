#include "curl/connection_pool.h"

#include "curl/easy_handle.h"
#include "state/transfer_record.h"

bool nc_conn_streams_share(const nc_conn_pool *conn_pool, const nc_transfer *transfer) {
    for (nc_link *link = conn_pool->running.next; link != &conn_pool->running; link = link->next) {
        const nc_transfer *other = NC_CONTAINER_OF(link, nc_transfer, link);
        if (other != transfer && other->hop.may_be_multiplexed && other->hop.socket_key == transfer->hop.socket_key) {
            return true;
        }
    }
    return false;
}

void nc_conn_streams_recheck(nc_conn_pool *conn_pool) {
    for (nc_link *link = conn_pool->running.next; link != &conn_pool->running; link = link->next) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        if (transfer->hop.may_be_multiplexed) {
            transfer->handle->may_have_buffered_data = true;
            conn_pool->has_buffered_candidates = true;
        }
    }
}

void nc_conn_streams_end(nc_conn_pool *conn_pool) {
    nc_conn_streams_recheck(conn_pool);
    conn_pool->has_ended_connection = true;
}
