/* Declarations that the files of the build share. Each file calls only those above it.
 *
 *   build_frames.c   targets of links and aliases, and the stack of open containers
 *   build_leaf.*     strings, numbers
 *   build_classes.c  the classes of the document, and what is allowed for each
 *   build_entries.*  entries of hashes
 *   build_fast.c     a recursion for the most common data
 *   build_thaw.c     objects that FREEZE wrote, and calls of THAW
 *   build_objects.c  hooks, ties, code, records
 *   build_regexps.c  regexps, and which of them are compiled
 *   build_ahead.c    errors that must be found before hooks run
 *   build_fields.c   objects of perl 5.38's `class`
 *   build.c          the loop over the nodes
 *
 * Most functions that build a value have these parameters:
 *
 *   variable  the variable that gets the value, or a reference to it
 *   index     the index of the value's node
 *   object    the index of the object node around it, or ICECORE_NONE */
#ifndef ICECORE_BUILD_H
#define ICECORE_BUILD_H
#include "core/icecore_perl.h"

/* Kinds of frames: an array, a hash, an object with a STORABLE_freeze hook, an object that
 * FREEZE wrote, a tied variable, a record, an object of a `class`. */
enum { IB_ARRAY, IB_MAP, IB_OPAQUE_HOOK, IB_OPAQUE_FREEZE, IB_TIED, IB_RECORD, IB_FIELDS };

typedef struct {
    ice_context *ctx;
    icecore_view *view;
    const ice_read_settings *settings;
    U32 next; /* index of the next node */
    SV *false_value, *true_value;
    bool foreign_code_ran;    /* perl code ran, which may have changed what is being built */
    bool needs_leaf_settings; /* settings or tainting affect leaves, so ib_new_shared_leaf makes them */
} ib_builder;

/* build_frames.c */
/* Returns what was built for a node to which others refer; NULL if there is nothing yet. */
ice_target *ib_find_target(ib_builder *b, U32 node);
/* Register what aliases of a node, and links to it, refer to from now on. */
void ib_set_variable(pTHX_ ib_builder *b, U32 node, SV *sv);
void ib_set_referent(pTHX_ ib_builder *b, U32 node, SV *sv);
/* Registers a reference that becomes weak when everything is built. */
void ib_weaken_later(pTHX_ ib_builder *b, SV *rv);
void ib_copy_input(pTHX_ ib_builder *b);
void ib_protect_frames(pTHX_ ib_builder *b);
ice_build_frame *ib_push_frame(pTHX_ ib_builder *b, U8 kind, U32 node, SV *sv);

/* build_fast.c */
U32 ib_append_leaves(pTHX_ ib_builder *b, AV *av, U32 index, U32 end);
U32 ib_store_leaves(pTHX_ ib_builder *b, HV *hv, U32 index, U32 end);
SV *ib_build_plain_document(pTHX_ ib_builder *b, U32 root);

/* build_classes.c */
const icecore_name *ib_class_name(pTHX_ ib_builder *b, const icecore_node *node, const char **text);
SV *ib_class_name_sv(pTHX_ const icecore_name *name, const char *text);
HV *ib_class_stash(pTHX_ ib_builder *b, const icecore_node *node);
SV *ib_offset_suffix(pTHX_ ib_builder *b);
void ib_check_classes(pTHX_ ib_builder *b, U32 from);
bool ib_may_thaw(pTHX_ ib_builder *b, const icecore_node *node);
bool ib_calls_hook(pTHX_ ib_builder *b, const icecore_node *node);
bool ib_is_record(ib_builder *b, const icecore_node *node);
void ib_bless(pTHX_ ib_builder *b, SV *rv, U32 object);

/* build_ahead.c */
/* If a hook will be called, dies of any error that would otherwise end the build after the hook
 * ran. */
void ib_report_errors_before_hooks(pTHX_ ib_builder *b, U32 from);

/* build_thaw.c */
/* Returns true for an object that FREEZE wrote, and that is thawed when everything is built. */
bool ib_is_thawed_at_end(ib_builder *b, const icecore_node *node);
/* Registers an object to thaw. Its payload comes next, in the same variable. */
void ib_register_frozen(pTHX_ ib_builder *b, SV *variable, U32 index);
/* Registers that a variable refers to the frozen object of the node `target`. `index` is the
 * node of that reference. */
void ib_register_frozen_link(pTHX_ ib_builder *b, SV *variable, U32 index, U32 target);
/* Calls THAW for all objects that FREEZE wrote, the last one first. */
void ib_thaw_all(pTHX_ ib_builder *b);
/* Calls THAW at once, at the end of the payload of an object. */
void ib_end_frozen(pTHX_ ib_builder *b);
void ib_croak_no_thaw(pTHX_ ib_builder *b, HV *stash) __attribute__noreturn__;

/* build_fields.c */
bool ib_has_fields(pTHX_ ib_builder *b, U32 index);
bool ib_begin_fields(pTHX_ ib_builder *b, SV *variable, U32 index);
void ib_end_fields(pTHX_ ib_builder *b);

/* build_regexps.c */
void ib_build_regexp(pTHX_ ib_builder *b, SV *variable, U32 index, U32 object);
/* Dies if a regexp does not compile. */
void ib_check_regexp(pTHX_ ib_builder *b, U32 index);

/* build_objects.c */
/* Returns true if a variable with such a node is a reference. */
bool ib_is_reference_kind(U8 kind);
void ib_register_container(pTHX_ ib_builder *b, SV *rv, SV *sv, U32 index, U32 object);
/* Returns a new list, which the context keeps until the end of the call. */
AV *ib_new_kept_list(pTHX_ ib_builder *b);
/* Returns the string of the node `index`, a child of the current object: a mortal. */
SV *ib_child_string(pTHX_ ib_builder *b, U32 index);
void ib_croak_code(pTHX) __attribute__noreturn__;
void ib_croak_foreign_object(pTHX) __attribute__noreturn__;
void ib_croak_no_storable_thaw(pTHX_ HV *stash) __attribute__noreturn__;
void ib_build_code(pTHX_ ib_builder *b, SV *variable, U32 index, U32 object);
GV *ib_find_glob(pTHX_ ib_builder *b, const icecore_node *node);
void ib_build_vstring(pTHX_ ib_builder *b, SV *variable, U32 index);
/* The begin_ functions push a frame for the contents, which come next. */
void ib_begin_tied(pTHX_ ib_builder *b, SV *variable, U32 index, U32 object);
void ib_begin_opaque(pTHX_ ib_builder *b, SV *variable, U32 index);
void ib_begin_record(pTHX_ ib_builder *b, U32 index, SV *variable);
/* The end_ functions run when all contents are built. */
void ib_end_hook(pTHX_ ib_builder *b);
void ib_end_tied(pTHX_ ib_builder *b);
void ib_end_record(pTHX_ ib_builder *b);

/* Makes a new variable a reference to `referent`, and takes over the caller's
 * reference count of it. */
PERL_STATIC_INLINE void
ib_make_reference(pTHX_ SV *variable, SV *referent)
{
    if (SvTYPE(variable) == SVt_NULL)
        sv_upgrade(variable, SVt_IV);
    SvRV_set(variable, referent);
    SvROK_on(variable);
}

#endif
