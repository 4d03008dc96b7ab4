MODULE = Icecore    PACKAGE = Icecore::JSON::Cpanel

# Methods that differ from those of Icecore::JSON, the base class.

PROTOTYPES: ENABLE

SV *
encode_json(data, type = NULL)
    SV *data
    SV *type
  CODE:
    RETVAL = ice_cpanel_encode(aTHX_ NULL, data, type);
  OUTPUT:
    RETVAL

SV *
decode_json(text, allow_nonref = NULL, type = NULL)
    SV *text
    SV *allow_nonref
    SV *type
  CODE:
    RETVAL = ice_cpanel_decode_json(aTHX_ text, allow_nonref && SvTRUE(allow_nonref), type);
  OUTPUT:
    RETVAL

PROTOTYPES: DISABLE

SV *
new(class)
    SV *class
  CODE:
    RETVAL = ice_json_new(aTHX_ class, J_CPANEL);
  OUTPUT:
    RETVAL

void
relaxed(self, enable = TRUE)
    SV *self
    bool enable
  ALIAS:
    relaxed = J_CPANEL_RELAXED
    binary = J_BINARY
    require_types = J_REQUIRE_TYPES
    dupkeys_as_arrayref = J_DUPKEYS_AS_ARRAYREF
  PPCODE:
    ice_json_set_flag(aTHX_ self, (U32)ix, enable);
    if (ix == J_DUPKEYS_AS_ARRAYREF && enable)
        ice_json_set_flag(aTHX_ self, J_ALLOW_DUPKEYS, TRUE);
    XPUSHs(ST(0));

bool
get_relaxed(self)
    SV *self
  ALIAS:
    get_relaxed = J_CPANEL_RELAXED
    get_binary = J_BINARY
    get_require_types = J_REQUIRE_TYPES
    get_dupkeys_as_arrayref = J_DUPKEYS_AS_ARRAYREF
  CODE:
    RETVAL = ice_json_get_flag(aTHX_ self, (U32)ix);
  OUTPUT:
    RETVAL

SV *
encode(self, data, type = NULL)
    SV *self
    SV *data
    SV *type
  CODE:
    RETVAL = ice_cpanel_encode(aTHX_ self, data, type);
  OUTPUT:
    RETVAL

SV *
decode(self, text, type = NULL)
    SV *self
    SV *text
    SV *type
  CODE:
    RETVAL = ice_cpanel_decode(aTHX_ self, text, NULL, type);
  OUTPUT:
    RETVAL

void
decode_prefix(self, text, type = NULL)
    SV *self
    SV *text
    SV *type
  PREINIT:
    SV *value;
    UV characters;
  PPCODE:
    PUTBACK;
    value = ice_cpanel_decode(aTHX_ self, text, &characters, type);
    SPAGAIN;
    EXTEND(SP, 2);
    PUSHs(sv_2mortal(value));
    PUSHs(sv_2mortal(newSVuv(characters)));
