/* Places of instance variables in objects.
 *
 * Up to Ruby 3.1 each object has a row of places, and its class determines which
 * variable is where. A place never gets another variable. The places are found with a
 * trial object that has a different number in each variable; no other code sees it. */
#include "core/icecore_ruby.h"

#if ICE_HAS_ROWS
typedef struct {
    ID ids[ICE_ROW];
    uint32_t count;
    bool is_full;
} names;

static int
note_name(ID id, VALUE value, st_data_t to)
{
    names *all = (names *)to;
    if (all->count == ICE_ROW) {
        all->is_full = true;
        return ST_STOP;
    }
    all->ids[all->count++] = id;
    return ST_CONTINUE;
}

/* Whether Marshal does not write this variable. */
static bool
is_left_out(ID id)
{
    return id == rb_intern("E") || id == rb_intern("K") || id == rb_intern("encoding") || !rb_id2name(id);
}

void
ice_row_learn(ice_row *row, VALUE object)
{
    names known = { { 0 }, 0, false }, in_order = { { 0 }, 0, false };
    VALUE trial;
    const VALUE *places;
    uint32_t i, width;
    rb_alloc_func_t allocate = rb_get_alloc_func(rb_obj_class(object));
    row->is_known = false;
    /* Only Ruby's own allocator is sure to run no foreign code. */
    if (allocate != rb_get_alloc_func(rb_cObject))
        return;
    rb_ivar_foreach(object, note_name, (st_data_t)&known);
    for (i = 0; i < row->count && !known.is_full; i++) {
        uint32_t j;
        for (j = 0; j < known.count && known.ids[j] != row->slots[i].id; j++)
            ;
        if (j == known.count)
            note_name(row->slots[i].id, Qnil, (st_data_t)&known);
    }
    if (known.is_full)
        return;
    memset(row->at_place, 0, sizeof row->at_place);
    trial = allocate(rb_obj_class(object));
    for (i = 0; i < known.count; i++)
        rb_ivar_set(trial, known.ids[i], INT2FIX(i));
    rb_ivar_foreach(trial, note_name, (st_data_t)&in_order);
    places = ROBJECT_IVPTR(trial);
    width = ROBJECT_NUMIV(trial);
    row->count = 0;
    row->width = 0;
    for (i = 0; i < in_order.count; i++) {
        uint32_t place;
        for (place = 0; place < width; place++)
            if (FIXNUM_P(places[place]) && known.ids[FIX2INT(places[place])] == in_order.ids[i])
                break;
        if (place == width || place >= ICE_PLACES || is_left_out(in_order.ids[i]))
            return;
        row->slots[row->count].id = in_order.ids[i];
        row->slots[row->count].place = (uint16_t)place;
        row->slots[row->count].key = 0;
        row->at_place[place] = row->count + 1;
        if (place >= row->width) {
            row->width = (uint16_t)(place + 1);
            row->widest = row->count;
        }
        row->count++;
    }
    row->is_known = true;
    RB_GC_GUARD(trial);
}
#else
void
ice_row_learn(ice_row *row, VALUE object)
{
    row->is_known = false;
}
#endif
