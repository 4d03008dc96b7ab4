/* Passes decoded objects to filters, and checks objects for repeated keys. */
#include "json/cpanel.h"

/* Calls a filter for a value. Returns its result; NULL if it returned nothing. The result
 * belongs to a mortal list. */
static SV *
call_filter(pTHX_ const ice_json *json, SV *filter, SV *value, const char *method_name)
{
    AV *list = (AV *)sv_2mortal((SV *)ice_call_list(aTHX_ filter, &value, 1));
    if (json->flags & J_CPANEL)
        return AvFILLp(list) == 0 ? AvARRAY(list)[0] : NULL; /* that module ignores several values */
    if (AvFILLp(list) > 0)
        croak("%s callbacks must not return more than one scalar", method_name);
    return AvFILLp(list) < 0 ? NULL : AvARRAY(list)[0];
}

/* Returns the entry of a hash that has only one; otherwise NULL. */
static HE *
only_entry(pTHX_ HV *hv)
{
    if (HvUSEDKEYS(hv) != 1)
        return NULL;
    (void)hv_iterinit(hv);
    return hv_iternext(hv);
}

/* Passes a complete object to the filters. If one returns a value, it replaces the object. */
static void
filter(pTHX_ const ice_json *json, HV *hv, SV *variable)
{
    HE *he;
    SV *result = NULL;
    ENTER;
    SAVETMPS;
    if (json->single_filter && (he = only_entry(aTHX_ hv))) {
        HE *found = hv_fetch_ent(json->single_filter, hv_iterkeysv(he), FALSE, 0);
        if (found)
            result = call_filter(aTHX_ json, HeVAL(found), HeVAL(he), "filter_json_single_key_object");
    }
    if (!result && json->filter)
        result = call_filter(aTHX_ json, json->filter, sv_2mortal(newRV_inc((SV *)hv)), "filter_json_object");
    if (result)
        sv_setsv(variable, result);
    FREETMPS;
    LEAVE;
}

/* Returns true if objects are passed to filters. Dies if keys are repeated and this is not allowed.
 * A hash has each key once, so after repeated keys it has fewer keys than the object has entries. */
static bool
is_filtered(pTHX_ const ice_read_settings *settings, HV *hv, U32 entries)
{
    const ice_json *json = settings->json;
    if (!(json->flags & J_ALLOW_DUPKEYS) && HvUSEDKEYS(hv) != entries) {
        if (json->flags & J_CPANEL)
            ij_croak_cpanel_error(aTHX_ json, settings->origin, NULL);
        croak("Duplicate keys not allowed");
    }
    return json->filter || json->single_filter;
}

const ice_filters ij_filters = { is_filtered, filter, ij_add_repeated };
