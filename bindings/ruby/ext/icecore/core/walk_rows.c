/* Objects whose variables have known places. */
#include "core/walk.h"

#if ICE_HAS_ROWS
static uint32_t
count_row(const ice_row *row, VALUE object)
{
    const VALUE *places = ROBJECT_IVPTR(object);
    const uint32_t width = ROBJECT_NUMIV(object);
    uint32_t i, count = 0;
    for (i = 0; i < width; i++)
        if (places[i] != Qundef) {
            if (i >= ICE_PLACES || !row->at_place[i])
                return UINT32_MAX;
            count++;
        }
    return count;
}

typedef struct {
    const ice_row *row;
    uint32_t at;
    bool is_wrong;
} ordering;

static int
check_order(ID id, VALUE value, st_data_t to)
{
    ordering *order = (ordering *)to;
    while (order->at < order->row->count && order->row->slots[order->at].id != id)
        order->at++;
    if (order->at == order->row->count) {
        order->is_wrong = true;
        return ST_STOP;
    }
    order->at++;
    return ST_CONTINUE;
}

/* Whether Ruby lists the variables of an object in the order of the row: a class that
 * got more of them may have another one. */
static bool
is_in_order(const ice_row *row, VALUE object)
{
    ordering order = { row, 0, false };
    rb_ivar_foreach(object, check_order, (st_data_t)&order);
    return !order.is_wrong;
}

ice_row *
ice_row_of(ice_walker *w, ice_written *class, VALUE object, uint32_t *count)
{
    ice_context *ctx = w->ctx;
    ice_row *row;
    if (ICE_UNLIKELY(class->base != NULL))
        class = class->base;
    row = class->row;
    if (ICE_LIKELY(row && (*count = count_row(row, object)) != UINT32_MAX)) {
        if (ICE_LIKELY(class->row_call == ctx->call) || is_in_order(row, object)) {
            class->row_call = ctx->call;
            return row;
        }
    } else if (!row && !class->was_seen) {
        /* The first object of a class may stay the only one. */
        class->was_seen = true;
        return NULL;
    }
    if (ctx->row_count == ctx->row_room)
        ctx->rows = ice_stack_grow(ctx->rows, &ctx->row_room, sizeof *ctx->rows, 16);
    ctx->rows[ctx->row_count] = ice_host_resize(NULL, sizeof *row);
    if (row)
        *ctx->rows[ctx->row_count] = *row;
    else
        memset(ctx->rows[ctx->row_count], 0, sizeof *row);
    row = ctx->rows[ctx->row_count++];
    ice_row_learn(row, object);
    if (!row->is_known || (*count = count_row(row, object)) == UINT32_MAX)
        return NULL;
    class->row = row;
    class->row_call = ctx->call;
    return row;
}

bool
ice_put_row(ice_walker *w, VALUE object, ice_row *row, uint32_t *at, uint32_t *done)
{
    const VALUE *places = ROBJECT_IVPTR(object);
    const uint32_t width = ROBJECT_NUMIV(object), count = row->count;
    uint32_t i;
    for (i = 0; i < count; i++) {
        ice_slot_of *slot = &row->slots[i];
        if (slot->place >= width || places[slot->place] == Qundef)
            continue;
        if (ICE_UNLIKELY(!slot->key) || !ice_put_leaf(w, places[slot->place], slot->key)) {
            *at = i;
            return false;
        }
        ++*done;
    }
    return true;
}
#endif
