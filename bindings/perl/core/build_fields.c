/* Builds objects of the keyword `class` of perl 5.38, and lists their fields.
 *
 * Neither Storable nor Sereal can freeze them. Here such an object is stored as an object of its
 * class whose body is a map. The map has an entry for each field, beginning with those of the
 * base class: `Point::$x`, `Point::@trail`, `Point3D::$z`. The value of a field that is an array
 * or a hash is a reference. */
#include "core/build.h"

/* Returns true if a key is the name of a field. */
static bool
is_field_name(const char *text, STRLEN len)
{
    STRLEN i;
    for (i = 1; i + 3 < len; i++)
        if (text[i] == ':' && text[i + 1] == ':' && strchr("$@%", text[i + 2]))
            return TRUE;
    return FALSE;
}

/* Returns true if a body is that of an object with fields: a map in which all keys name
 * fields. */
bool
ib_has_fields(pTHX_ ib_builder *b, U32 index)
{
    const icecore_node *nodes = b->view->nodes, *map = &nodes[index];
    U32 child, end;
    if (map->kind != ICECORE_MAP || map->aux == 0)
        return FALSE;
    end = (U32)map->payload;
    for (child = index + 1; child < end; child = ice_next(b->view, child)) {
        const icecore_node *node = &nodes[child];
        STRLEN len;
        const char *text;
        if (node->key == ICECORE_KEY_PRECEDES)
            continue;
        if (node->key == ICECORE_IS_KEY) {
            if (node->kind != ICECORE_BYTES && node->kind != ICECORE_TEXT)
                return FALSE;
            text = ice_bytes_of(b->view, node, &len);
        } else {
            SV *key = ice_key_sv(aTHX_ b->ctx, b->view, node->key);
            text = SvPV(key, len);
        }
        if (!is_field_name(text, len))
            return FALSE;
    }
    return TRUE;
}

#if ICE_HAS_CLASS

static HV *
superclass(HV *stash)
{
    return HvAUX(stash)->xhv_class_superclass;
}

/* Appends the fields of a class to a list: the name, with that of the class, and the index in
 * the object, alternating. The fields of the base class come first. */
static void
list_fields(pTHX_ HV *stash, AV *list)
{
    PADNAMELIST *names = HvAUX(stash)->xhv_class_fields;
    SSize_t i;
    if (superclass(stash))
        list_fields(aTHX_ superclass(stash), list);
    for (i = 0; names && i <= PadnamelistMAX(names); i++) {
        PADNAME *name = PadnamelistARRAY(names)[i];
        if (!name || !PadnameIsFIELD(name) || PadnameLEN(name) < 2)
            continue;
        av_push(list, newSVpvf("%" HEKf "::%" PNf, HEKfARG(HvNAME_HEK(stash)), PNfARG(name)));
        av_push(list, newSVuv(PadnameFIELDINFO(name)->fieldix));
    }
}

void
ice_fields(pTHX_ SV *object, AV *list)
{
    AV *fields = (AV *)sv_2mortal((SV *)newAV());
    SSize_t i;
    list_fields(aTHX_ SvSTASH(object), fields);
    for (i = 0; i < AvFILLp(fields); i += 2) {
        SV *name = AvARRAY(fields)[i];
        const SSize_t index = (SSize_t)SvUV(AvARRAY(fields)[i + 1]);
        SV *value = index <= ObjectMAXFIELD(object) ? ObjectFIELDS(object)[index] : NULL;
        if (!value)
            croak("Icecore: the object of class %" HEKf " has no %" SVf " yet", HEKfARG(HvNAME_HEK(SvSTASH(object))),
                  SVfARG(name));
        av_push(list, SvREFCNT_inc_simple_NN(name));
        av_push(list, SvTYPE(value) >= SVt_PVAV ? newRV_inc(value) : SvREFCNT_inc_simple_NN(value));
    }
}

/* Begins an object of a `class`. Returns false if its class is an ordinary package. */
bool
ib_begin_fields(pTHX_ ib_builder *b, SV *variable, U32 index)
{
    HV *stash = ib_class_stash(aTHX_ b, &b->view->nodes[index]);
    const bool has_field_names = ib_has_fields(aTHX_ b, index + 1);
    SV *object;
    if (!HvSTASH_IS_CLASS(stash)) {
        if (has_field_names)
            croak("Icecore: the data has an object of the class %" HEKf
                  " with fields, but no such `class` is loaded; load it, or read records with classes => 'record'",
                  HEKfARG(HvNAME_HEK(stash)));
        return FALSE;
    }
    if (!has_field_names && !(b->view->nodes[index + 1].kind == ICECORE_MAP && b->view->nodes[index + 1].aux == 0))
        croak("Icecore: %" HEKf " is a `class`, but the data has an object without its fields",
              HEKfARG(HvNAME_HEK(stash)));
    object = newSV_type(SVt_PVOBJ);
    SvOBJECT_on(object);
    SvSTASH_set(object, (HV *)SvREFCNT_inc_simple_NN((SV *)stash));
    ib_make_reference(aTHX_ variable, object);
    {
        /* perl expects a value in every field of an object, so all fields get an empty value
         * here. */
        const SSize_t count = (SSize_t)HvAUX(stash)->xhv_class_next_fieldix;
        AV *fields = (AV *)sv_2mortal((SV *)newAV());
        SV **values;
        SSize_t i;
        Newxz(values, count ? count : 1, SV *);
        ObjectFIELDS(object) = values;
        ObjectMAXFIELD(object) = count - 1;
        list_fields(aTHX_ stash, fields);
        for (i = 0; i < AvFILLp(fields); i += 2) {
            const char *sigil = strrchr(SvPVX(AvARRAY(fields)[i]), ':') + 1;
            values[SvUV(AvARRAY(fields)[i + 1])] = *sigil == '@' ? (SV *)newAV()
                                                 : *sigil == '%' ? (SV *)newHV()
                                                                 : newSV(0);
        }
        for (i = 0; i < count; i++)
            if (!values[i])
                values[i] = newSV(0);
    }
    if (b->view->nodes[index].flags & ICECORE_FLAG_TARGET)
        ib_set_referent(aTHX_ b, index, object);
    if (b->view->nodes[index].flags & ICECORE_FLAG_WEAK)
        ib_weaken_later(aTHX_ b, variable);
    {
        AV *list = newAV();
        ice_keep_for_call(aTHX_ b->ctx, (SV *)list);
        ib_push_frame(aTHX_ b, IB_FIELDS, index + 1, object)->children = list;
    }
    b->next = index + 2;
    return TRUE;
}

/* Sets a field. The name is for the error message. */
static void
set_field(pTHX_ SV *object, SSize_t index, SV *name, SV *value)
{
    SV **field = &ObjectFIELDS(object)[index], *old = *field;
    if (SvTYPE(old) == SVt_PVAV || SvTYPE(old) == SVt_PVHV) {
        if (!SvROK(value) || SvTYPE(SvRV(value)) != SvTYPE(old))
            croak("Icecore: the data has no %s for the field %" SVf, SvTYPE(old) == SVt_PVAV ? "array" : "hash",
                  SVfARG(name));
        value = SvRV(value);
    }
    *field = SvREFCNT_inc_simple_NN(value);
    SvREFCNT_dec(old);
}

/* Sets the fields. The list of the frame has their names and values, alternating. */
void
ib_end_fields(pTHX_ ib_builder *b)
{
    const ice_build_frame frame = b->ctx->frames[b->ctx->depth - 1].build;
    SV *object = frame.sv;
    AV *list = frame.children, *fields = (AV *)sv_2mortal((SV *)newAV());
    HV *values = (HV *)sv_2mortal((SV *)newHV()); /* by the name of the field */
    SV *missing = sv_2mortal(newSVpvs("")), *unknown = sv_2mortal(newSVpvs(""));
    SSize_t i;
    HE *he;
    b->ctx->depth--;
    list_fields(aTHX_ SvSTASH(object), fields);
    for (i = 0; i < AvFILLp(list); i += 2)
        (void)hv_store_ent(values, AvARRAY(list)[i], SvREFCNT_inc(AvARRAY(list)[i + 1]), 0);
    for (i = 0; i < AvFILLp(fields); i += 2) {
        SV *name = AvARRAY(fields)[i];
        SV *value = hv_delete_ent(values, name, 0, 0);
        if (value)
            set_field(aTHX_ object, (SSize_t)SvUV(AvARRAY(fields)[i + 1]), name, value);
        else
            sv_catpvf(missing, " %" SVf, SVfARG(name));
    }
    (void)hv_iterinit(values);
    while ((he = hv_iternext(values)))
        sv_catpvf(unknown, " %" SVf, SVfARG(hv_iterkeysv(he)));
    if (SvCUR(missing) || SvCUR(unknown))
        croak("Icecore: the class %" HEKf " has changed since its object was frozen:%s%" SVf "%s%" SVf,
              HEKfARG(HvNAME_HEK(SvSTASH(object))), SvCUR(missing) ? " the data lacks" : "", SVfARG(missing),
              SvCUR(unknown) ? (SvCUR(missing) ? "; the class lacks" : " the class lacks") : "", SVfARG(unknown));
}

#else

bool
ib_begin_fields(pTHX_ ib_builder *b, SV *variable, U32 index)
{
    if (!ib_has_fields(aTHX_ b, index + 1))
        return FALSE;
    /* This perl has no objects of this kind. */
    ib_begin_record(aTHX_ b, index, variable);
    return TRUE;
}

void
ib_end_fields(pTHX_ ib_builder *b)
{
    b->ctx->depth--;
}

#endif
