/* Reads and checks the allow lists of Sereal's options. class_lists.h explains them. */
#include "core/class_lists.h"

/* Adds the items of an array that are defined. */
static void
add_names_of_array(pTHX_ HV *names, AV *array)
{
    SSize_t i;
    for (i = 0; i <= av_len(array); i++) {
        SV **item = av_fetch(array, i, 0);
        if (item)
            SvGETMAGIC(*item);
        if (item && SvOK(*item))
            (void)hv_store_ent(names, *item, newSViv(1), 0);
    }
}

/* Adds the keys of a hash whose values are true. */
static void
add_names_of_hash(pTHX_ HV *names, HV *hash)
{
    HE *entry;
    hv_iterinit(hash);
    while ((entry = hv_iternext(hash)))
        if (SvTRUE(hv_iterval(hash, entry)))
            (void)hv_store_ent(names, hv_iterkeysv(entry), newSViv(1), 0);
}

void
ice_class_list_new(pTHX_ SV **list, const char *option, SV *value)
{
    SV *referent = SvROK(value) ? SvRV(value) : NULL;
    const svtype type = referent ? SvTYPE(referent) : SVt_NULL;
    if (type == SVt_PVCV) {
        *list = SvREFCNT_inc_simple_NN(referent);
        return;
    }
    if (type != SVt_PVAV && type != SVt_PVHV)
        croak("The '%s' option must be an array ref, hash ref or code ref", option);
    /* The code below may die. By then the owner has the list, and frees it. */
    *list = (SV *)newHV();
    if (type == SVt_PVAV)
        add_names_of_array(aTHX_ (HV *)* list, (AV *)referent);
    else
        add_names_of_hash(aTHX_ (HV *)* list, (HV *)referent);
}

bool
ice_class_list_contains(pTHX_ SV *list, const char *name, STRLEN len, bool is_utf8)
{
    return cBOOL(hv_common((HV *)list, NULL, name, len, is_utf8 ? HVhek_UTF8 : 0, HV_FETCH_ISEXISTS, NULL, 0));
}

bool
ice_class_list_call(pTHX_ SV *list, SV *name, SV *object)
{
    SV *arguments[2], *result;
    bool is_allowed;
    ENTER;
    SAVETMPS;
    /* The code may drop the last other reference to itself. */
    sv_2mortal(SvREFCNT_inc_simple_NN(list));
    arguments[0] = name;
    arguments[1] = object;
    result = ice_call_scalar(aTHX_ list, arguments, object ? 2 : 1);
    is_allowed = cBOOL(SvTRUE(result));
    FREETMPS;
    LEAVE;
    return is_allowed;
}
