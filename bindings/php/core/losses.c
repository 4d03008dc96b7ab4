/* Collects what a format could not express. The context keeps the losses of its last call only, so
 * they are copied first, outside of PHP's heap. */
#include "core/losses.h"

void
ice_losses_keep(ice_context *ctx, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        icecore_loss_part loss;
        icecore_class_use entry;
        if (icecore_loss_parts(ctx->pooled.engine, i, &loss) != ICECORE_OK)
            break;
        /* A loss has the same parts as a class of a document: a text, a kind, a path and a number. */
        entry = (icecore_class_use){ loss.text, loss.kind, loss.path, loss.count };
        ice_found_classes_add(&entry, &ICE_G(losses));
    }
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
