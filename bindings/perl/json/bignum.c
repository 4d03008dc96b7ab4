/* Numbers of any size: objects of Math::BigInt and Math::BigFloat, as in
 * Cpanel::JSON::XS with allow_bignum. */
#include "json/json.h"

SV *
ij_new_big_number(pTHX_ const char *class_name, SV *text)
{
    SV *arguments[2], *class = sv_2mortal(newSVpv(class_name, 0));
    CV *method;
    arguments[0] = class;
    arguments[1] = text;
    if (!ice_find_method(aTHX_ gv_stashsv(class, GV_ADD), "new"))
        load_module(PERL_LOADMOD_NOIMPORT, newSVsv(class), NULL);
    method = ice_find_method(aTHX_ gv_stashsv(class, GV_ADD), "new");
    if (!method)
        croak("Icecore: %" SVf " has no method new", SVfARG(class));
    return ice_call_scalar(aTHX_ (SV *)method, arguments, 2);
}

/* Replaces the text of a number by an object. */
static void
replace_by_object(pTHX_ SV *sv, bool is_float)
{
    SV *object = ij_new_big_number(aTHX_ is_float ? "Math::BigFloat" : "Math::BigInt", sv_mortalcopy(sv));
    SvREADONLY_off(sv);
    sv_setsv(sv, object);
}

void
ij_convert_big_numbers(pTHX_ AV *numbers)
{
    SSize_t i;
    for (i = 0; i + 1 <= AvFILLp(numbers); i += 2)
        replace_by_object(aTHX_ AvARRAY(numbers)[i], SvTRUE(AvARRAY(numbers)[i + 1]));
}
