/* Builds less common values: objects with hooks, tied variables, code, records. */
#include "core/build_leaf.h"

bool
ib_is_reference_kind(U8 kind)
{
    return kind >= ICECORE_ARRAY ? kind != ICECORE_VSTRING : kind == ICECORE_LINK;
}

/* Registers a new container, so that links to it can be resolved from now on. Blesses the
 * reference `rv` to it, and registers it if it is weak. */
void
ib_register_container(pTHX_ ib_builder *b, SV *rv, SV *sv, U32 index, U32 object)
{
    const U8 flags = b->view->nodes[index].flags;
    U8 outer = 0;
    if (flags & ICECORE_FLAG_TARGET)
        ib_set_referent(aTHX_ b, index, sv);
    if (object != ICECORE_NONE) {
        outer = b->view->nodes[object].flags;
        if (outer & ICECORE_FLAG_TARGET)
            ib_set_referent(aTHX_ b, object, sv);
        ib_bless(aTHX_ b, rv, object);
    }
    if (UNLIKELY((flags | outer) & ICECORE_FLAG_WEAK))
        ib_weaken_later(aTHX_ b, rv);
}

SV *
ib_child_string(pTHX_ ib_builder *b, U32 index)
{
    STRLEN len;
    const icecore_node *node = &b->view->nodes[index];
    const char *text = ice_bytes_of(b->view, node, &len);
    SV *sv = sv_2mortal(newSVpvn(text, len));
    if (node->kind == ICECORE_TEXT) {
        if (!ice_is_utf8((const U8 *)text, len))
            ib_croak_bad_utf8(aTHX_ b, node);
        SvUTF8_on(sv);
    }
    return sv;
}

/* The sub that Data::Dumper's `sub { "DUMMY" }` becomes. */
static XSPROTO(dummy_sub)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    XSRETURN_PV("DUMMY");
}

/* Returns the existing glob that a text names. */
GV *
ib_find_glob(pTHX_ ib_builder *b, const icecore_node *node)
{
    STRLEN len;
    const char *text = ice_bytes_of(b->view, node, &len);
    GV *gv;
    if (len && *text == '*') {
        text++;
        len--;
    }
    gv = gv_fetchpvn_flags(text, len, ice_is_ascii((const U8 *)text, len) ? 0 : SVf_UTF8, SVt_PVGV);
    if (!gv || !isGV_with_GP(gv))
        croak("Icecore: the program has no glob *%.*s", (int)(len < 200 ? len : 200), text);
    return gv;
}

void
ib_croak_code(pTHX)
{
    croak("Can't eval, please set $Storable::Eval to a true value");
}

void
ib_croak_foreign_object(pTHX)
{
    croak("Icecore: an object that another language froze can't be built in perl; `classes => 'record'` reads it as "
          "a record");
}

void
ib_croak_no_storable_thaw(pTHX_ HV *stash)
{
    croak("No STORABLE_thaw defined for objects of class %s: load its module, or name the class in full where it is "
          "allowed",
          HvNAME_get(stash));
}

void
ib_build_code(pTHX_ ib_builder *b, SV *variable, U32 index, U32 object)
{
    SV *text = ib_child_string(aTHX_ b, index + 1), *code, *result;
    if (b->settings->dummy_code) {
        result = (SV *)newXS(NULL, dummy_sub, __FILE__);
        b->next = (U32)b->view->nodes[index].payload;
        ib_make_reference(aTHX_ variable, result);
        ib_register_container(aTHX_ b, variable, result, index, object);
        return;
    }
    b->next = (U32)b->view->nodes[index].payload;
    if (!b->settings->eval || !SvTRUE(b->settings->eval)) {
        if (!b->settings->forgive_me)
            ib_croak_code(aTHX);
        /* The reference to a text is not blessed, so `object` is not passed on. */
        result = newSVpvf("sub %" SVf, SVfARG(text));
        ib_make_reference(aTHX_ variable, result);
        ib_register_container(aTHX_ b, variable, result, index, ICECORE_NONE);
        if (object != ICECORE_NONE && b->view->nodes[object].flags & ICECORE_FLAG_TARGET)
            ib_set_referent(aTHX_ b, object, result);
        return;
    }
    ib_protect_frames(aTHX_ b);
    code = sv_2mortal(newSVpvf("sub %" SVf, SVfARG(text)));
    ice_keep_for_call(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(variable));
    if (SvROK(b->settings->eval) && SvTYPE(SvRV(b->settings->eval)) == SVt_PVCV)
        result = ice_eval_with_sub(aTHX_ b->settings->eval, code);
    else
        result = ice_eval(aTHX_ code);
    if (!SvROK(result) || SvTYPE(SvRV(result)) != SVt_PVCV)
        croak("code %" SVf " did not evaluate to a subroutine reference\n", SVfARG(code));
    ib_make_reference(aTHX_ variable, SvREFCNT_inc_simple_NN(SvRV(result)));
    ib_register_container(aTHX_ b, variable, SvRV(result), index, object);
}

void
ib_build_vstring(pTHX_ ib_builder *b, SV *variable, U32 index)
{
    STRLEN len;
    const icecore_node *source = &b->view->nodes[index + 1];
    const char *text = ice_bytes_of(b->view, source, &len);
    sv_setsv(variable, ib_child_string(aTHX_ b, ice_next(b->view, index + 1)));
    if (len > I32_MAX)
        croak("Icecore: a v-string is too long");
    sv_magic(variable, NULL, PERL_MAGIC_vstring, text, (I32)len);
    SvRMAGICAL_on(variable);
    b->next = (U32)b->view->nodes[index].payload;
}

/* ---- tied -------------------------------------------------------------- */

AV *
ib_new_kept_list(pTHX_ ib_builder *b)
{
    AV *list = newAV();
    ice_keep_for_call(aTHX_ b->ctx, (SV *)list);
    return list;
}

void
ib_begin_tied(pTHX_ ib_builder *b, SV *variable, U32 index, U32 object)
{
    const U8 form = ICE_FORM_OF(&b->view->nodes[index]);
    SV *sv = variable;
    if (!b->settings->tie_ok)
        croak("Tying is disabled.");
    if (form == ICECORE_FORM_TIED_ARRAY || form == ICECORE_FORM_TIED_HASH) {
        sv = form == ICECORE_FORM_TIED_ARRAY ? (SV *)newAV() : (SV *)newHV();
        ib_make_reference(aTHX_ variable, sv);
        ib_register_container(aTHX_ b, variable, sv, index, object);
    }
    ib_push_frame(aTHX_ b, IB_TIED, index, sv)->children = ib_new_kept_list(aTHX_ b);
    b->next = index + 1;
}

/* Returns a child of an object; undef if it is missing. */
static SV *
child_at(pTHX_ AV *list, SSize_t index)
{
    return index <= AvFILLp(list) && AvARRAY(list)[index] ? AvARRAY(list)[index] : &PL_sv_undef;
}

void
ib_end_tied(pTHX_ ib_builder *b)
{
    const ice_build_frame frame = b->ctx->frames[b->ctx->depth - 1].build;
    const U8 form = ICE_FORM_OF(&b->view->nodes[frame.node]);
    AV *list = frame.children;
    SV *object = child_at(aTHX_ list, 0);
    b->ctx->depth--;
    /* If the object were a plain string, perl would call the methods of the class with that name.
     * This class was not checked, so only references are accepted. */
    if (!SvOK(object))
        object = NULL;
    else if (!SvROK(object) || (b->settings->bless_ok && !SvOBJECT(SvRV(object))))
        croak("Icecore: a tied variable without an object");
    switch (form) {
    case ICECORE_FORM_TIED_ARRAY:
    case ICECORE_FORM_TIED_HASH:
        sv_magic(frame.sv, object, PERL_MAGIC_tied, NULL, 0);
        break;
    case ICECORE_FORM_TIED_SCALAR:
        sv_upgrade(frame.sv, SVt_PVMG);
        sv_magic(frame.sv, object, PERL_MAGIC_tiedscalar, NULL, 0);
        break;
    default: {
        SV *key = child_at(aTHX_ list, 1);
        const U32 last = ice_last_child(b->view, frame.node);
        /* The magic of an array's element has the position in the field for a length. The magic
         * of a hash's element has the key as an SV, and HEf_SVKEY in that field. */
        sv_upgrade(frame.sv, SVt_PVMG);
        if (b->view->nodes[last].kind == ICECORE_INT)
            sv_magic(frame.sv, object, PERL_MAGIC_tiedelem, NULL, (I32)SvIV(key));
        else
            sv_magic(frame.sv, object, PERL_MAGIC_tiedelem, (char *)key, HEf_SVKEY);
    }
    }
}

/* ---- hooks ------------------------------------------------------------- */

void
ib_begin_opaque(pTHX_ ib_builder *b, SV *variable, U32 index)
{
    const icecore_node *node = &b->view->nodes[index];
    const U8 form = ICE_FORM_OF(node);
    ice_build_frame *frame;
    SV *sv;
    if (ib_is_record(b, node)) {
        ib_begin_record(aTHX_ b, index, variable);
        return;
    }
    if (form == ICECORE_FORM_FREEZE) {
        frame = ib_push_frame(aTHX_ b, IB_OPAQUE_FREEZE, index, variable);
        frame->children = ib_new_kept_list(aTHX_ b);
        b->next = index + 1;
        return;
    }
    if (form != ICECORE_FORM_HOOK)
        ib_croak_foreign_object(aTHX);
    /* Links inside of the object may lead to the object itself. So it is created now, empty, with
     * the type that its body has. The hook fills it later. */
    {
        const U32 last = ice_last_child(b->view, index);
        const icecore_node *body = &b->view->nodes[last];
        const U8 body_form = ICE_FORM_OF(body);
        if (body->kind == ICECORE_ARRAY || (body->kind == ICECORE_TIED && body_form == ICECORE_FORM_TIED_ARRAY))
            sv = (SV *)newAV();
        else if (body->kind == ICECORE_MAP || (body->kind == ICECORE_TIED && body_form == ICECORE_FORM_TIED_HASH))
            sv = (SV *)newHV();
        else
            sv = newSV(0);
    }
    ib_make_reference(aTHX_ variable, sv);
    if (node->flags & ICECORE_FLAG_TARGET)
        ib_set_referent(aTHX_ b, index, sv);
    if (node->flags & ICECORE_FLAG_WEAK)
        ib_weaken_later(aTHX_ b, variable);
    frame = ib_push_frame(aTHX_ b, IB_OPAQUE_HOOK, index, variable);
    frame->children = ib_new_kept_list(aTHX_ b);
    b->next = index + 1;
}

/* Replaces the empty object that ib_begin_opaque created by the one that STORABLE_attach
 * returned. Links that come later must lead to the new object, so the target is changed too. */
static void
replace_referent(pTHX_ ib_builder *b, U32 index, SV *variable, SV *sv)
{
    ice_target *target;
    /* sv_setsv is needed, because a hook may have changed the variable. */
    sv_setsv(variable, sv_2mortal(newRV_inc(sv)));
    target = b->view->nodes[index].flags & ICECORE_FLAG_TARGET ? ib_find_target(b, index) : NULL;
    if (target) {
        SV *old = target->referent;
        target->referent = SvREFCNT_inc_simple_NN(sv);
        SvREFCNT_dec(old);
    }
}

/* Calls STORABLE_attach, and puts the object that it returns into the variable. */
static void
call_attach(pTHX_ ib_builder *b, U32 index, SV *variable, HV *stash, CV *method, SV *frozen)
{
    SV *arguments[3], *result;
    arguments[0] = sv_2mortal(newSVhek(HvNAME_HEK(stash)));
    arguments[1] = sv_2mortal(newSViv(b->settings->cloning ? ICE_CLONING : 0));
    arguments[2] = frozen;
    result = ice_call_scalar(aTHX_ (SV *)method, arguments, 3);
    if (!SvROK(result) || !SvOBJECT(SvRV(result))
        || !sv_derived_from_sv(result, sv_2mortal(newSVhek(HvNAME_HEK(stash))), 0))
        croak("STORABLE_attach did not return a %s object", HvNAME_get(stash));
    replace_referent(aTHX_ b, index, variable, SvRV(result));
}

/* Calls STORABLE_attach or STORABLE_thaw of an object. The list of the frame has the string that
 * STORABLE_freeze returned, then inner objects and links, then the body. The links are the
 * references that the hook gets. */
void
ib_end_hook(pTHX_ ib_builder *b)
{
    const ice_build_frame frame = b->ctx->frames[b->ctx->depth - 1].build;
    const U32 index = frame.node;
    const icecore_node *nodes = b->view->nodes;
    SV *variable = frame.sv;
    AV *list = frame.children;
    SV *frozen = child_at(aTHX_ list, 0);
    U32 child = ice_next(b->view, index + 1), end = (U32)nodes[index].payload;
    SSize_t part = 1;
    HV *stash;
    CV *method;
    AV *references;

    b->ctx->depth--;
    if (SvROK(variable) && nodes[ice_last_child(b->view, index)].kind == ICECORE_TIED) {
        /* The body was built as another tied variable. The object gets its tie. */
        SV *body = child_at(aTHX_ list, AvFILLp(list));
        SV *sv = SvRV(variable);
        const char magic = SvROK(body) ? PERL_MAGIC_tied : PERL_MAGIC_tiedscalar;
        MAGIC *mg = mg_find(SvROK(body) ? SvRV(body) : body, magic);
        if (magic == PERL_MAGIC_tiedscalar)
            sv_upgrade(sv, SVt_PVMG);
        if (mg)
            sv_magic(sv, mg->mg_obj, magic, NULL, 0);
    }
    if (!b->settings->bless_ok)
        return;
    ib_protect_frames(aTHX_ b);
    ENTER;
    SAVETMPS;
    stash = ib_class_stash(aTHX_ b, &nodes[index]);
    references = ib_new_kept_list(aTHX_ b);
    /* `part` is the index in the list of the node `child`. The last child is the body, so the loop
     * ends before it. A link leads to an object or a container. A reference to an alias leads to
     * a scalar. The other children are inner values, to which these links and aliases lead. */
    for (; child < end && ice_next(b->view, child) < end; child = ice_next(b->view, child), part++)
        if (nodes[child].kind == ICECORE_LINK
            || (nodes[child].kind == ICECORE_REF && nodes[child + 1].kind == ICECORE_ALIAS))
            av_push(references, SvREFCNT_inc(child_at(aTHX_ list, part)));

    ice_keep_for_call(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(variable));
    method = ice_find_method(aTHX_ stash, "STORABLE_attach");
    if (method) {
        if (AvFILLp(references) >= 0)
            croak("STORABLE_attach called with unexpected references");
        call_attach(aTHX_ b, index, variable, stash, method, frozen);
        FREETMPS;
        LEAVE;
        return;
    }
    sv_bless(variable, stash);
    method = ice_find_method(aTHX_ stash, "STORABLE_thaw");
    if (!method)
        ib_croak_no_storable_thaw(aTHX_ stash);
    {
        SSize_t count = AvFILLp(references) + 4, i;
        SV **arguments;
        Newx(arguments, count, SV *);
        SAVEFREEPV(arguments);
        /* The hook may keep the reference that it receives. */
        arguments[0] = sv_2mortal(newRV_inc(SvRV(variable)));
        arguments[1] = sv_2mortal(newSViv(b->settings->cloning ? ICE_CLONING : 0));
        arguments[2] = frozen;
        for (i = 3; i < count; i++)
            arguments[i] = AvARRAY(references)[i - 3];
        ice_call_scalar(aTHX_ (SV *)method, arguments, count);
    }
    FREETMPS;
    LEAVE;
}

/* ---- records ----------------------------------------------------------- */

const ice_record_kind ice_record_kinds[ICE_RECORD_KINDS] = {
    { "hook", ICECORE_OPAQUE, ICECORE_FORM_HOOK },         { "freeze", ICECORE_OPAQUE, ICECORE_FORM_FREEZE },
    { "variable", ICECORE_OBJECT, ICECORE_FORM_VARIABLE }, { "struct", ICECORE_OBJECT, ICECORE_FORM_STRUCT },
    { "C", ICECORE_OPAQUE, ICECORE_FORM_SERIALIZABLE },    { "u", ICECORE_OPAQUE, ICECORE_FORM_USER_DUMP },
    { "U", ICECORE_OPAQUE, ICECORE_FORM_USER_MARSHAL },    { "d", ICECORE_OPAQUE, ICECORE_FORM_DATA },
};

/* Returns the value of the method `kind` for the record of a node. */
static const char *
record_kind(const icecore_node *node)
{
    U8 form = ICE_FORM_OF(node);
    size_t i;
    if (node->kind == ICECORE_OBJECT && form == ICECORE_FORM_USUAL)
        return "object";
    for (i = 0; i < C_ARRAY_LENGTH(ice_record_kinds); i++)
        if (ice_record_kinds[i].node_kind == node->kind && ice_record_kinds[i].form == form)
            return ice_record_kinds[i].name;
    return "freeze";
}

void
ib_begin_record(pTHX_ ib_builder *b, U32 index, SV *variable)
{
    const icecore_node *node = &b->view->nodes[index];
    const char *class;
    const icecore_name *name = ib_class_name(aTHX_ b, node, &class);
    HV *hv = newHV();
    ib_make_reference(aTHX_ variable, (SV *)hv);
    (void)hv_stores(hv, "class", ib_class_name_sv(aTHX_ name, class));
    (void)hv_stores(hv, "kind", newSVpv(record_kind(node), 0));
    if (node->flags & ICECORE_FLAG_OVERLOAD)
        (void)hv_stores(hv, "overloaded", newSViv(1));
    sv_bless(variable, gv_stashpvs("Icecore::Record", GV_ADD));
    if (node->flags & ICECORE_FLAG_TARGET)
        ib_set_referent(aTHX_ b, index, (SV *)hv);
    if (node->flags & ICECORE_FLAG_WEAK)
        ib_weaken_later(aTHX_ b, variable);
    ib_push_frame(aTHX_ b, IB_RECORD, index, (SV *)hv)->children = ib_new_kept_list(aTHX_ b);
    b->next = index + 1;
}

void
ib_end_record(pTHX_ ib_builder *b)
{
    const ice_build_frame frame = b->ctx->frames[b->ctx->depth - 1].build;
    const icecore_node *nodes = b->view->nodes, *node = &nodes[frame.node];
    HV *hv = (HV *)frame.sv;
    AV *list = frame.children;
    b->ctx->depth--;
    (void)hv_stores(hv, "value", SvREFCNT_inc(child_at(aTHX_ list, 0)));
    if (node->kind == ICECORE_OPAQUE && ICE_FORM_OF(node) == ICECORE_FORM_HOOK) {
        AV *references = newAV();
        U32 child = ice_next(b->view, frame.node + 1), end = (U32)node->payload,
            last = ice_last_child(b->view, frame.node);
        SSize_t part = 1;
        /* As in ib_end_hook, the links and the references to aliases are the references that the
         * hook returned, and the last child is the body. */
        for (; child < last && child < end; child = ice_next(b->view, child), part++)
            if (nodes[child].kind == ICECORE_LINK
                || (nodes[child].kind == ICECORE_REF && nodes[child + 1].kind == ICECORE_ALIAS))
                av_push(references, SvREFCNT_inc(child_at(aTHX_ list, part)));
        (void)hv_stores(hv, "references", newRV_noinc((SV *)references));
        (void)hv_stores(hv, "body",
                        nodes[last].kind == ICECORE_MAP     ? newSVpvs("HASH")
                        : nodes[last].kind == ICECORE_ARRAY ? newSVpvs("ARRAY")
                        : nodes[last].kind == ICECORE_TIED  ? SvREFCNT_inc(child_at(aTHX_ list, AvFILLp(list)))
                                                            : newSVpvs("SCALAR"));
    }
}
