#include "common/ice_keys.h"
#include <string.h>

void
ice_keys_free(ice_keys *keys, ice_release release, void *host)
{
    void **values = keys->by_id;
    const uint32_t capacity = keys->capacity;
    uint32_t id;
    ice_host_free(keys->address);
    keys->by_id = keys->address = NULL;
    keys->capacity = 0;
    memset(keys->cache, 0, sizeof keys->cache);
    /* The table is emptied first, because dropping a reference may run code of the host that
     * uses the table. */
    for (id = 0; id < capacity; id++)
        if (values[id])
            release(host, values[id]);
    ice_host_free(values);
}

void
ice_keys_set_generation(ice_keys *keys, uint32_t generation, ice_release release, void *host)
{
    if (keys->generation != generation) {
        ice_keys_free(keys, release, host);
        keys->generation = generation;
    }
}

void
ice_keys_reserve(ice_keys *keys, uint16_t id)
{
    uint32_t capacity = keys->capacity ? keys->capacity : 64;
    if (id < keys->capacity)
        return;
    /* An id has 16 bits, so the capacity is at most 65536. */
    while (capacity <= id)
        capacity *= 2;
    keys->by_id = ice_host_resize(keys->by_id, capacity * sizeof(void *));
    keys->address = ice_host_resize(keys->address, capacity * sizeof(void *));
    memset(keys->by_id + keys->capacity, 0, (capacity - keys->capacity) * sizeof(void *));
    memset(keys->address + keys->capacity, 0, (capacity - keys->capacity) * sizeof(void *));
    keys->capacity = capacity;
}
