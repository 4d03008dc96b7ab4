/* The classes that a document names, collected for later use.
 *
 * icecore_classes calls its visitor while the engine runs. A function of the host could leave by a
 * jump (longjmp) over the engine's frames, so the visitor must not call one. It stores the classes
 * in memory of its own, and the host reads them when the engine has returned.
 *
 * Ownership: the memory comes from malloc, and is freed by ice_found_classes_free however
 * the call ends.
 *
 *   ice_found_classes found = { NULL, 0, 0, 0 };
 *   ice_found_class class_use;
 *   const char *cursor = NULL;
 *   icecore_classes(stage, bytes, len, ice_found_classes_add, &found, &error);
 *   while (ice_found_classes_next(&found, &cursor, &class_use))
 *       add(class_use.name.bytes, class_use.name.len, class_use.count);
 *   ice_found_classes_free(&found);
 */
#ifndef ICE_FOUND_CLASSES_H
#define ICE_FOUND_CLASSES_H
#include <stdlib.h>
#include <string.h>
#include "icecore.h"

typedef struct {
    char *text; /* for each class: three lengths, each followed by its bytes, then the count */
    size_t len, capacity;
    int failed; /* 1 if memory ran out: the list is incomplete */
} ice_found_classes;

/* A text in an ice_found_classes, valid until more classes are added or it is freed. */
typedef struct {
    const char *bytes;
    size_t len;
} ice_found_text;

typedef struct {
    ice_found_text name, kind, path;
    uint64_t count;
} ice_found_class;

/* Appends bytes. If memory runs out, sets `failed` and drops them. */
static inline void
ice_found_classes_append(ice_found_classes *found, const void *bytes, size_t len)
{
    if (found->failed)
        return;
    if (found->capacity - found->len < len) {
        const size_t capacity = (found->capacity + len) * 2;
        char *text = (char *)realloc(found->text, capacity);
        if (!text) {
            found->failed = 1;
            return;
        }
        found->text = text;
        found->capacity = capacity;
    }
    if (len)
        memcpy(found->text + found->len, bytes, len);
    found->len += len;
}

/* Appends a length and its bytes. */
static inline void
ice_found_classes_append_text(ice_found_classes *found, const icecore_bytes *bytes)
{
    ice_found_classes_append(found, &bytes->len, sizeof bytes->len);
    ice_found_classes_append(found, bytes->bytes, bytes->len);
}

/* A visitor for icecore_classes; `found` points to an ice_found_classes. */
static inline void
ice_found_classes_add(const icecore_class_use *class_use, void *found)
{
    ice_found_classes_append_text((ice_found_classes *)found, &class_use->name);
    ice_found_classes_append_text((ice_found_classes *)found, &class_use->kind);
    ice_found_classes_append_text((ice_found_classes *)found, &class_use->path);
    ice_found_classes_append((ice_found_classes *)found, &class_use->count, sizeof class_use->count);
}

/* Reads a length and its bytes; returns the end of the bytes. */
static inline const char *
ice_found_text_read(const char *cursor, ice_found_text *text)
{
    memcpy(&text->len, cursor, sizeof text->len);
    text->bytes = cursor + sizeof text->len;
    return text->bytes + text->len;
}

/* Reads the next class and advances `*cursor`, which must be NULL at first. Returns 0 after the
 * last class. The caller must check `failed` before, because an incomplete list may end
 * inside of a class. The lengths are copied with memcpy, because they are not aligned. */
static inline int
ice_found_classes_next(const ice_found_classes *found, const char **cursor, ice_found_class *class_use)
{
    const char *next = *cursor ? *cursor : found->text;
    if (!next || next >= found->text + found->len)
        return 0;
    next = ice_found_text_read(next, &class_use->name);
    next = ice_found_text_read(next, &class_use->kind);
    next = ice_found_text_read(next, &class_use->path);
    memcpy(&class_use->count, next, sizeof class_use->count);
    *cursor = next + sizeof class_use->count;
    return 1;
}

static inline void
ice_found_classes_free(ice_found_classes *found)
{
    free(found->text);
    found->text = NULL;
    found->len = found->capacity = 0;
}

#endif
