/* The positions of instance variables inside of objects.
 *
 * Up to Ruby 3.1 each object has its variables in an array, and its class determines which
 * variable is at which index. A class may add indexes, but an index never gets another variable,
 * so an index that was learned stays right. The indexes are found with a trial object that has a
 * different number in each variable: the number at an index says which variable is there. No
 * other code sees that object. */
#include "core/icecore_ruby.h"

#if ICE_HAS_IVAR_LAYOUTS
typedef struct {
    ID ids[ICE_MAX_LAYOUT_IVARS];
    uint32_t count;
    bool is_full;
} id_list;

/* For rb_ivar_foreach: appends the id of a variable to an id_list. */
static int
add_id(ID id, VALUE value, st_data_t to)
{
    id_list *all = (id_list *)to;
    if (all->count == ICE_MAX_LAYOUT_IVARS) {
        all->is_full = true;
        return ST_STOP;
    }
    all->ids[all->count++] = id;
    return ST_CONTINUE;
}

/* Returns true if Marshal never writes this variable. */
static bool
is_never_dumped(ID id)
{
    return id == rb_intern("E") || id == rb_intern("K") || id == rb_intern("encoding") || !rb_id2name(id);
}

void
ice_ivar_layout_learn(ice_ivar_layout *layout, VALUE object)
{
    id_list known_ids = { { 0 }, 0, false }, ordered_ids = { { 0 }, 0, false };
    VALUE trial;
    const VALUE *ivars;
    uint32_t i, width;
    rb_alloc_func_t allocate = rb_get_alloc_func(rb_obj_class(object));
    layout->is_known = false;
    /* An allocator other than Ruby's own might run foreign code. */
    if (allocate != rb_get_alloc_func(rb_cObject))
        return;
    /* `known_ids` gets the variables of the object, then those that only the old layout has. */
    rb_ivar_foreach(object, add_id, (st_data_t)&known_ids);
    for (i = 0; i < layout->count && !known_ids.is_full; i++) {
        uint32_t j;
        for (j = 0; j < known_ids.count && known_ids.ids[j] != layout->ivars[i].id; j++)
            ;
        if (j == known_ids.count)
            add_id(layout->ivars[i].id, Qnil, (st_data_t)&known_ids);
    }
    if (known_ids.is_full)
        return;
    memset(layout->ivar_at_index, 0, sizeof layout->ivar_at_index);
    trial = allocate(rb_obj_class(object));
    for (i = 0; i < known_ids.count; i++)
        rb_ivar_set(trial, known_ids.ids[i], INT2FIX(i));
    rb_ivar_foreach(trial, add_id, (st_data_t)&ordered_ids);
    ivars = ROBJECT_IVPTR(trial);
    width = ROBJECT_NUMIV(trial);
    layout->count = 0;
    layout->width = 0;
    for (i = 0; i < ordered_ids.count; i++) {
        uint32_t index;
        for (index = 0; index < width; index++)
            if (FIXNUM_P(ivars[index]) && known_ids.ids[FIX2INT(ivars[index])] == ordered_ids.ids[i])
                break;
        /* `is_known` is still false, so the class has no layout in these cases. */
        if (index == width || index >= ICE_MAX_LAYOUT_WIDTH || is_never_dumped(ordered_ids.ids[i]))
            return;
        layout->ivars[layout->count].id = ordered_ids.ids[i];
        layout->ivars[layout->count].index = (uint16_t)index;
        layout->ivars[layout->count].key = 0;
        layout->ivar_at_index[index] = layout->count + 1;
        if (index >= layout->width) {
            layout->width = (uint16_t)(index + 1);
            layout->last_ivar = layout->count;
        }
        layout->count++;
    }
    layout->is_known = true;
    RB_GC_GUARD(trial);
}
#else
void
ice_ivar_layout_learn(ice_ivar_layout *layout, VALUE object)
{
    layout->is_known = false;
}
#endif
