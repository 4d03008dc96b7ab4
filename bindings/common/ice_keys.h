/* Keys of maps: finds the host's value for a key by the engine's id, and the id by the address
 * of that value.
 *
 * An id of the engine means the same key in all calls of one context, until the generation
 * changes. So a host creates its value for each key once (perl: a shared key, PHP: an
 * interned string, Ruby: a symbol or a frozen string). When the host writes that value again,
 * its address is enough to find the id.
 *
 * Ownership: the table owns a reference to each value that is stored in it; `release` drops
 * the reference. Only a stored value may be remembered by its address, because the address of
 * a freed value could be reused for another key.
 *
 *   ice_keys_set_generation(&keys, tape.key_generation, release, NULL);
 *   if (!ice_keys_find_by_address(&keys, string, &id)) {
 *       id = icecore_key(engine, ICECORE_TEXT, 0, text, len);   // 0: the key needs a node of its own
 *       if (id) {
 *           ice_keys_store(&keys, id, retain(string));
 *           ice_keys_remember_address(&keys, string, id);
 *       }
 *   }
 */
#ifndef ICE_KEYS_H
#define ICE_KEYS_H
#include "common/ice_host.h"

/* Number of keys that can be found by address: must be a power of two. */
#define ICE_KEY_CACHE_SIZE 1024

typedef struct {
    const void *address;
    uint16_t id;
} ice_key_cache_entry;

typedef struct {
    uint32_t generation;
    void **by_id;      /* for each id: the host's value, or NULL */
    void **address;    /* for each id: another address, if the host sets one, or NULL */
    uint32_t capacity; /* of both arrays */
    ice_key_cache_entry cache[ICE_KEY_CACHE_SIZE]; /* direct-mapped: has the last key of each index */
} ice_keys;

/* Drops a reference to a value. `host` is an argument of the function that calls it. */
typedef void (*ice_release)(void *host, void *value);

/* Empties the table if `generation` is a new one: then the engine reuses its ids. */
void ice_keys_set_generation(ice_keys *keys, uint32_t generation, ice_release release, void *host);
/* Drops all references, and frees the memory. */
void ice_keys_free(ice_keys *keys, ice_release release, void *host);
/* Makes room for the key with this id, without storing a value. */
void ice_keys_reserve(ice_keys *keys, uint16_t id);

/* Returns the value that is stored for an id, or NULL. */
static inline void *
ice_keys_get(const ice_keys *keys, uint16_t id)
{
    return ICE_LIKELY(id < keys->capacity) ? keys->by_id[id] : NULL;
}

/* Stores a value for an id that has none. The table takes over the caller's reference. */
static inline void
ice_keys_store(ice_keys *keys, uint16_t id, void *value)
{
    ice_keys_reserve(keys, id);
    keys->by_id[id] = value;
}

/* Returns the index in `cache` for an address. Values that are created one after another are often
 * some ten bytes apart, so the lowest 3 bits say little. The upper bits are mixed in, so that equal
 * places of different pages get different indexes. */
static inline uint32_t
ice_key_cache_index(const void *address)
{
    const uint32_t bits = (uint32_t)((uintptr_t)address >> 3);
    return (bits ^ bits >> 11) & (ICE_KEY_CACHE_SIZE - 1);
}

/* Finds the id of the key whose value has this address. Returns 0 if the address is not
 * remembered. */
static inline int
ice_keys_find_by_address(const ice_keys *keys, const void *address, uint16_t *id)
{
    const ice_key_cache_entry *entry = &keys->cache[ice_key_cache_index(address)];
    if (ICE_UNLIKELY(entry->address != address))
        return 0;
    *id = entry->id;
    return 1;
}

/* Remembers the address of a stored value. The address is unique while the value is stored. The
 * entry of another key with the same index is overwritten; that key is found by its text again. */
static inline void
ice_keys_remember_address(ice_keys *keys, const void *address, uint16_t id)
{
    ice_key_cache_entry *entry = &keys->cache[ice_key_cache_index(address)];
    entry->address = address;
    entry->id = id;
}

#endif
