/* Objects whose variables are at known indexes. */
#include "core/walk.h"

#if ICE_HAS_IVAR_LAYOUTS
/* Returns the number of an object's variables; UINT32_MAX if one is not in the layout. An index
 * that has no variable in this object contains Qundef. */
static uint32_t
count_ivars(const ice_ivar_layout *layout, VALUE object)
{
    const VALUE *ivars = ROBJECT_IVPTR(object);
    const uint32_t width = ROBJECT_NUMIV(object);
    uint32_t i, count = 0;
    for (i = 0; i < width; i++)
        if (ivars[i] != Qundef) {
            if (i >= ICE_MAX_LAYOUT_WIDTH || !layout->ivar_at_index[i])
                return UINT32_MAX;
            count++;
        }
    return count;
}

typedef struct {
    const ice_ivar_layout *layout;
    uint32_t next_ivar;
    bool is_wrong;
} order_check;

/* For rb_ivar_foreach: checks that the variables come in the order of the layout. The layout may
 * have further variables between them, so the search skips those. */
static int
check_next_ivar(ID id, VALUE value, st_data_t data)
{
    order_check *order = (order_check *)data;
    while (order->next_ivar < order->layout->count && order->layout->ivars[order->next_ivar].id != id)
        order->next_ivar++;
    if (order->next_ivar == order->layout->count) {
        order->is_wrong = true;
        return ST_STOP;
    }
    order->next_ivar++;
    return ST_CONTINUE;
}

/* Returns true if Ruby lists the variables of an object in the order of the layout. When a
 * class gets more variables, the order may change. */
static bool
is_in_order(const ice_ivar_layout *layout, VALUE object)
{
    order_check order = { layout, 0, false };
    rb_ivar_foreach(object, check_next_ivar, (st_data_t)&order);
    return !order.is_wrong;
}

ice_ivar_layout *
ice_find_ivar_layout(ice_walker *w, ice_written_class *class, VALUE object, uint32_t *count)
{
    ice_context *ctx = w->ctx;
    ice_ivar_layout *layout;
    if (ICE_UNLIKELY(class->base_class != NULL))
        class = class->base_class;
    layout = class->layout;
    if (ICE_LIKELY(layout && (*count = count_ivars(layout, object)) != UINT32_MAX)) {
        /* One check in each call is enough, because ice_call_hook resets `layout_call` after each
         * hook. */
        if (ICE_LIKELY(class->layout_call == ctx->call) || is_in_order(layout, object)) {
            class->layout_call = ctx->call;
            return layout;
        }
    } else if (!layout && !class->was_written_before) {
        /* The first object of a class may be the only one, so nothing is learned from it. */
        class->was_written_before = true;
        return NULL;
    }
    /* Open frames may still use the old layout. It is therefore not changed: a new one is
     * learned, beginning with a copy. */
    if (ctx->layout_count == ctx->layout_capacity)
        ctx->layouts = ice_stack_grow(ctx->layouts, &ctx->layout_capacity, sizeof *ctx->layouts, 16);
    ctx->layouts[ctx->layout_count] = ice_host_resize(NULL, sizeof *layout);
    if (layout)
        *ctx->layouts[ctx->layout_count] = *layout;
    else
        memset(ctx->layouts[ctx->layout_count], 0, sizeof *layout);
    layout = ctx->layouts[ctx->layout_count++];
    ice_ivar_layout_learn(layout, object);
    if (!layout->is_known || (*count = count_ivars(layout, object)) == UINT32_MAX)
        return NULL;
    class->layout = layout;
    class->layout_call = ctx->call;
    return layout;
}

bool
ice_put_ivars_by_layout(ice_walker *w, VALUE object, ice_ivar_layout *layout, uint32_t *failed_ivar,
                        uint32_t *put_count)
{
    const VALUE *ivars = ROBJECT_IVPTR(object);
    const uint32_t width = ROBJECT_NUMIV(object), count = layout->count;
    uint32_t i;
    for (i = 0; i < count; i++) {
        ice_layout_ivar *slot = &layout->ivars[i];
        if (slot->index >= width || ivars[slot->index] == Qundef)
            continue;
        /* step_layout requests the key of a variable that has none yet. */
        if (ICE_UNLIKELY(!slot->key) || !ice_put_leaf(w, ivars[slot->index], slot->key)) {
            *failed_ivar = i;
            return false;
        }
        ++*put_count;
    }
    return true;
}
#endif
