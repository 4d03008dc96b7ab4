/* Keys of maps: from ids to the host's own form of a key, and from the address of that
 * form to the id.
 *
 * An id of the engine means the same key in all calls of one context, until the
 * generation changes. So a host makes its own form of each key once (perl: a shared key,
 * PHP: an interned string, Ruby: a symbol or a frozen string), and finds the id of a key
 * that it meets again by its address.
 *
 * Ownership: the table holds a reference to each form that it was given, which `release`
 * drops. Only a form that is held may be known by its address: the address of a freed
 * one could be reused for another key.
 *
 *   ice_keys_check(&keys, tape.key_generation, release, NULL);
 *   if (!ice_keys_near(&keys, string, &id)) {
 *       id = icecore_key(engine, ICECORE_TEXT, 0, text, len);   // 0: it needs a node of its own
 *       if (id) {
 *           ice_keys_hold(&keys, id, retain(string));
 *           ice_keys_set_near(&keys, string, id);
 *       }
 *   }
 */
#ifndef ICE_KEYS_H
#define ICE_KEYS_H
#include "common/ice_host.h"

#define ICE_NEAR 1024 /* a power of two */

typedef struct {
    const void *address;
    uint16_t id;
} ice_near_key;

typedef struct {
    uint32_t generation;
    void **by_id;   /* the form held for each id, or NULL */
    void **address; /* by id: the address by which it is known, if the host sets one, or NULL */
    uint32_t room;
    ice_near_key near[ICE_NEAR];
} ice_keys;

/* Drops a reference of the host's. */
typedef void (*ice_release)(void *host, void *held);

/* Forgets all ids if the engine has forgotten them. */
void ice_keys_check(ice_keys *keys, uint32_t generation, ice_release release, void *host);
/* Drops all references, and frees the memory. */
void ice_keys_free(ice_keys *keys, ice_release release, void *host);
/* Makes room for the key with this id; nothing is held for it yet. */
void ice_keys_room(ice_keys *keys, uint16_t id);

/* Returns the form held for an id; NULL: it was not met yet. */
static inline void *
ice_keys_held(const ice_keys *keys, uint16_t id)
{
    return ICE_LIKELY(id < keys->room) ? keys->by_id[id] : NULL;
}

/* Holds a form for an id that has none yet. The caller passes on its reference. */
static inline void
ice_keys_hold(ice_keys *keys, uint16_t id, void *held)
{
    ice_keys_room(keys, id);
    keys->by_id[id] = held;
}

/* Forms of keys are some ten bytes apart, in the order of their creation. */
static inline uint32_t
ice_near_place(const void *address)
{
    const uint32_t bits = (uint32_t)((uintptr_t)address >> 3);
    return (bits ^ bits >> 11) & (ICE_NEAR - 1);
}

/* Finds the id of the key at an address. 0: it is not known by its address. */
static inline int
ice_keys_near(const ice_keys *keys, const void *address, uint16_t *id)
{
    const ice_near_key *slot = &keys->near[ice_near_place(address)];
    if (ICE_UNLIKELY(slot->address != address))
        return 0;
    *id = slot->id;
    return 1;
}

/* Makes a key known by its address, which is unique while the key is held. */
static inline void
ice_keys_set_near(ice_keys *keys, const void *address, uint16_t id)
{
    ice_near_key *slot = &keys->near[ice_near_place(address)];
    slot->address = address;
    slot->id = id;
}

#endif
