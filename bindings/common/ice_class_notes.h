/* The classes that a document names, recorded for later use.
 *
 * icecore_classes calls its visitor while the engine runs, so the visitor must not call
 * functions of the host, which could leave by a jump. The visitor records the classes in
 * memory of its own, and the host reads them when the engine has returned.
 *
 * Ownership: the memory comes from malloc, and is freed by ice_class_notes_free however
 * the call ends.
 *
 *   ice_class_notes notes = { NULL, 0, 0, 0 };
 *   ice_noted_class class;
 *   const char *at = NULL;
 *   icecore_classes(stage, bytes, len, ice_note_class, &notes, &error);
 *   while (ice_next_noted(&notes, &at, &class))
 *       add(class.name.bytes, class.name.len, class.count);
 *   ice_class_notes_free(&notes);
 */
#ifndef ICE_CLASS_NOTES_H
#define ICE_CLASS_NOTES_H
#include <stdlib.h>
#include <string.h>
#include "icecore.h"

typedef struct {
    char *text; /* lengths, bytes and counts, one after the other */
    size_t len, room;
    int failed; /* memory ran out: the notes are incomplete */
} ice_class_notes;

/* Valid as long as the notes are. */
typedef struct {
    const char *bytes;
    size_t len;
} ice_noted_text;

typedef struct {
    ice_noted_text name, kind, path;
    uint64_t count;
} ice_noted_class;

static inline void
ice_note(ice_class_notes *notes, const void *bytes, size_t len)
{
    if (notes->failed)
        return;
    if (notes->room - notes->len < len) {
        const size_t room = (notes->room + len) * 2;
        char *text = (char *)realloc(notes->text, room);
        if (!text) {
            notes->failed = 1;
            return;
        }
        notes->text = text;
        notes->room = room;
    }
    if (len)
        memcpy(notes->text + notes->len, bytes, len);
    notes->len += len;
}

static inline void
ice_note_bytes(ice_class_notes *notes, const icecore_bytes *bytes)
{
    ice_note(notes, &bytes->len, sizeof bytes->len);
    ice_note(notes, bytes->bytes, bytes->len);
}

/* A visitor for icecore_classes; `notes` points to an ice_class_notes. */
static inline void
ice_note_class(const icecore_class_use *use, void *notes)
{
    ice_note_bytes((ice_class_notes *)notes, &use->name);
    ice_note_bytes((ice_class_notes *)notes, &use->kind);
    ice_note_bytes((ice_class_notes *)notes, &use->path);
    ice_note((ice_class_notes *)notes, &use->count, sizeof use->count);
}

static inline const char *
ice_read_noted(const char *at, ice_noted_text *text)
{
    memcpy(&text->len, at, sizeof text->len);
    text->bytes = at + sizeof text->len;
    return text->bytes + text->len;
}

/* Reads the next class; 0: there is none. `*at` is NULL at first. Not for notes that
 * failed. */
static inline int
ice_next_noted(const ice_class_notes *notes, const char **at, ice_noted_class *class_use)
{
    const char *from = *at ? *at : notes->text;
    if (!from || from >= notes->text + notes->len)
        return 0;
    from = ice_read_noted(from, &class_use->name);
    from = ice_read_noted(from, &class_use->kind);
    from = ice_read_noted(from, &class_use->path);
    memcpy(&class_use->count, from, sizeof class_use->count);
    *at = from + sizeof class_use->count;
    return 1;
}

static inline void
ice_class_notes_free(ice_class_notes *notes)
{
    free(notes->text);
    notes->text = NULL;
    notes->len = notes->room = 0;
}

#endif
