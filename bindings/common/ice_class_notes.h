/* The classes that a document names, recorded for later use.
 *
 * icecore_classes calls its visitor while the engine runs. A function of the host could leave by a
 * jump (longjmp) over the engine's frames, so the visitor must not call one. It records the classes
 * in memory of its own, and the host reads them when the engine has returned.
 *
 * Ownership: the memory comes from malloc, and is freed by ice_class_notes_free however
 * the call ends.
 *
 *   ice_class_notes notes = { NULL, 0, 0, 0 };
 *   ice_noted_class noted;
 *   const char *cursor = NULL;
 *   icecore_classes(stage, bytes, len, ice_note_class, &notes, &error);
 *   while (ice_next_noted(&notes, &cursor, &noted))
 *       add(noted.name.bytes, noted.name.len, noted.count);
 *   ice_class_notes_free(&notes);
 */
#ifndef ICE_CLASS_NOTES_H
#define ICE_CLASS_NOTES_H
#include <stdlib.h>
#include <string.h>
#include "icecore.h"

typedef struct {
    char *text; /* for each class: three lengths, each followed by its bytes, then the count */
    size_t len, capacity;
    int failed; /* 1 if memory ran out: the notes are incomplete */
} ice_class_notes;

/* A text in the notes, valid until they are freed or get more classes. */
typedef struct {
    const char *bytes;
    size_t len;
} ice_noted_text;

typedef struct {
    ice_noted_text name, kind, path;
    uint64_t count;
} ice_noted_class;

/* Appends bytes to the notes. */
static inline void
ice_note(ice_class_notes *notes, const void *bytes, size_t len)
{
    if (notes->failed)
        return;
    if (notes->capacity - notes->len < len) {
        const size_t capacity = (notes->capacity + len) * 2;
        char *text = (char *)realloc(notes->text, capacity);
        if (!text) {
            notes->failed = 1;
            return;
        }
        notes->text = text;
        notes->capacity = capacity;
    }
    if (len)
        memcpy(notes->text + notes->len, bytes, len);
    notes->len += len;
}

/* Appends a length and its bytes. */
static inline void
ice_note_bytes(ice_class_notes *notes, const icecore_bytes *bytes)
{
    ice_note(notes, &bytes->len, sizeof bytes->len);
    ice_note(notes, bytes->bytes, bytes->len);
}

/* A visitor for icecore_classes; `notes` points to an ice_class_notes. */
static inline void
ice_note_class(const icecore_class_use *class_use, void *notes)
{
    ice_note_bytes((ice_class_notes *)notes, &class_use->name);
    ice_note_bytes((ice_class_notes *)notes, &class_use->kind);
    ice_note_bytes((ice_class_notes *)notes, &class_use->path);
    ice_note((ice_class_notes *)notes, &class_use->count, sizeof class_use->count);
}

/* Reads a length and its bytes; returns the end of the bytes. */
static inline const char *
ice_read_noted(const char *cursor, ice_noted_text *text)
{
    memcpy(&text->len, cursor, sizeof text->len);
    text->bytes = cursor + sizeof text->len;
    return text->bytes + text->len;
}

/* Reads the next class and advances `*cursor`, which must be NULL at first. Returns 0 after the
 * last class. The caller must check `failed` before, because incomplete notes may end inside of
 * a class. The lengths are copied with memcpy, because they are not aligned. */
static inline int
ice_next_noted(const ice_class_notes *notes, const char **cursor, ice_noted_class *noted)
{
    const char *next = *cursor ? *cursor : notes->text;
    if (!next || next >= notes->text + notes->len)
        return 0;
    next = ice_read_noted(next, &noted->name);
    next = ice_read_noted(next, &noted->kind);
    next = ice_read_noted(next, &noted->path);
    memcpy(&noted->count, next, sizeof noted->count);
    *cursor = next + sizeof noted->count;
    return 1;
}

static inline void
ice_class_notes_free(ice_class_notes *notes)
{
    free(notes->text);
    notes->text = NULL;
    notes->len = notes->capacity = 0;
}

#endif
