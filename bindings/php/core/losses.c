/* Collects what a format could not express. The engine reports losses while it runs, so they are
 * stored outside of PHP's heap first. */
#include "core/losses.h"

void
ice_losses_add(const icecore_lost *lost, void *data)
{
    /* A loss has the same parts as a class of a document: a text, a kind, a path and a number. */
    const icecore_class_use entry = { lost->text, lost->kind, lost->path, lost->count };
    (void)data;
    ice_found_classes_add(&entry, &ICE_G(losses));
}

void
ice_losses_drop(void)
{
    ice_found_classes_free(&ICE_G(losses));
    ICE_G(losses).failed = 0;
}

bool
ice_losses_fill(zval *losses)
{
    ice_found_class entry;
    const char *position = NULL;
    if (!losses)
        return true;
    if (ICE_G(losses).failed)
        zend_throw_error(NULL, "Icecore: not enough memory");
    else if ((losses = zend_try_array_init(losses)))
        while (ice_found_classes_next(&ICE_G(losses), &position, &entry)) {
            zval loss;
            array_init(&loss);
            add_assoc_stringl(&loss, "kind", entry.kind.bytes, entry.kind.len);
            add_assoc_long(&loss, "count", (zend_long)entry.count);
            add_assoc_stringl(&loss, "path", entry.path.bytes, entry.path.len);
            add_assoc_stringl(&loss, "text", entry.name.bytes, entry.name.len);
            add_next_index_zval(losses, &loss);
        }
    ice_losses_drop();
    return !EG(exception);
}
