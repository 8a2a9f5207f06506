/// An intrusive, doubly linked list. It allocates nothing, and a member is removed in constant time.
#ifndef NETCORE_PRIVATE_LIST_H
#define NETCORE_PRIVATE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/// Both the link in a member and the head of a list. The head of an empty list points to itself.
typedef struct nc_link {
    struct nc_link *next;
    struct nc_link *previous;
} nc_link;

/// Returns the struct of `type` whose `member` is at `pointer`.
#define NC_CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static inline void nc_list_init(nc_link *head) {
    head->next = head;
    head->previous = head;
}

static inline bool nc_list_is_empty(const nc_link *head) {
    return head->next == head;
}

static inline void nc_list_insert(nc_link *after, nc_link *member) {
    member->next = after->next;
    member->previous = after;
    after->next->previous = member;
    after->next = member;
}

static inline void nc_list_append(nc_link *head, nc_link *member) {
    nc_list_insert(head->previous, member);
}

/// Removes a member from its list. Does nothing if the member is zeroed or already removed.
static inline void nc_list_remove(nc_link *member) {
    if (member->next != NULL) {
        member->previous->next = member->next;
        member->next->previous = member->previous;
    }
    member->next = NULL;
    member->previous = NULL;
}

/// Removes and returns the first member; NULL if there is none.
static inline nc_link *nc_list_take_first(nc_link *head) {
    nc_link *member = head->next;
    if (member == head) {
        return NULL;
    }
    nc_list_remove(member);
    return member;
}

/// Moves every member of `from` to the end of `to`.
static inline void nc_list_move_all(nc_link *to, nc_link *from) {
    if (nc_list_is_empty(from)) {
        return;
    }
    from->next->previous = to->previous;
    to->previous->next = from->next;
    from->previous->next = to;
    to->previous = from->previous;
    nc_list_init(from);
}

#endif
