MODULE = Icecore    PACKAGE = Icecore::JSON

# The methods for settings return the object, so that calls can be chained.

SV *
encode_json(data)
    SV *data
  PROTOTYPE: $
  CODE:
    RETVAL = ice_json_encode(aTHX_ NULL, data);
  OUTPUT:
    RETVAL

SV *
decode_json(text)
    SV *text
  PROTOTYPE: $
  CODE:
    RETVAL = ice_json_decode(aTHX_ NULL, text, NULL);
  OUTPUT:
    RETVAL

void
_set_default_booleans(no, yes)
    SV *no
    SV *yes
  CODE:
    ice_json_set_default_booleans(aTHX_ no, yes);

SV *
new(class)
    SV *class
  CODE:
    RETVAL = ice_json_new(aTHX_ class, J_ALLOW_NONREF | J_ALLOW_DUPKEYS);
  OUTPUT:
    RETVAL

void
DESTROY(self)
    SV *self
  CODE:
    ice_json_destroy(aTHX_ self);

void
ascii(self, enable = TRUE)
    SV *self
    bool enable
  ALIAS:
    ascii = J_ASCII
    latin1 = J_LATIN1
    utf8 = J_UTF8
    indent = J_INDENT
    canonical = J_CANONICAL
    space_before = J_SPACE_BEFORE
    space_after = J_SPACE_AFTER
    allow_nonref = J_ALLOW_NONREF
    shrink = J_SHRINK
    allow_blessed = J_ALLOW_BLESSED
    convert_blessed = J_CONVERT_BLESSED
    relaxed = J_RELAXED
    allow_unknown = J_ALLOW_UNKNOWN
    allow_tags = J_ALLOW_TAGS
    escape_slash = J_ESCAPE_SLASH
    allow_stringify = J_ALLOW_STRINGIFY
    allow_barekey = J_ALLOW_BAREKEY
    allow_singlequote = J_ALLOW_SINGLEQUOTE
    allow_dupkeys = J_ALLOW_DUPKEYS
    unblessed_bool = J_UNBLESSED_BOOL
    type_all_string = J_TYPE_ALL_STRING
    allow_bignum = J_ALLOW_BIGNUM
    pretty = J_PRETTY
  PPCODE:
    ice_json_set_flag(aTHX_ self, (U32)ix, enable);
    XPUSHs(ST(0));

bool
get_ascii(self)
    SV *self
  ALIAS:
    get_ascii = J_ASCII
    get_latin1 = J_LATIN1
    get_utf8 = J_UTF8
    get_indent = J_INDENT
    get_canonical = J_CANONICAL
    get_space_before = J_SPACE_BEFORE
    get_space_after = J_SPACE_AFTER
    get_allow_nonref = J_ALLOW_NONREF
    get_shrink = J_SHRINK
    get_allow_blessed = J_ALLOW_BLESSED
    get_convert_blessed = J_CONVERT_BLESSED
    get_relaxed = J_RELAXED
    get_allow_unknown = J_ALLOW_UNKNOWN
    get_allow_tags = J_ALLOW_TAGS
    get_escape_slash = J_ESCAPE_SLASH
    get_allow_stringify = J_ALLOW_STRINGIFY
    get_allow_barekey = J_ALLOW_BAREKEY
    get_allow_singlequote = J_ALLOW_SINGLEQUOTE
    get_allow_dupkeys = J_ALLOW_DUPKEYS
    get_unblessed_bool = J_UNBLESSED_BOOL
    get_type_all_string = J_TYPE_ALL_STRING
    get_allow_bignum = J_ALLOW_BIGNUM
  CODE:
    RETVAL = ice_json_get_flag(aTHX_ self, (U32)ix);
  OUTPUT:
    RETVAL

# Without a value, a method sets the value that JSON::XS documents for this case: the maximum depth, no
# limit of the size, three blanks, the mode 1.

void
max_depth(self, value = NULL)
    SV *self
    SV *value
  ALIAS:
    max_depth = ICE_JSON_DEPTH
    max_size = ICE_JSON_SIZE
    indent_length = ICE_JSON_INDENT
    stringify_infnan = ICE_JSON_INFNAN
  PPCODE:
    if (!value)
        value = sv_2mortal(newSVuv(ix == ICE_JSON_DEPTH    ? 0x80000000
                                   : ix == ICE_JSON_SIZE   ? 0
                                   : ix == ICE_JSON_INDENT ? 3
                                                           : 1));
    ice_json_number_setting(aTHX_ self, ix, value);
    XPUSHs(ST(0));

UV
get_max_depth(self)
    SV *self
  ALIAS:
    get_max_depth = ICE_JSON_DEPTH
    get_max_size = ICE_JSON_SIZE
    get_indent_length = ICE_JSON_INDENT
    get_stringify_infnan = ICE_JSON_INFNAN
  CODE:
    RETVAL = ice_json_number_setting(aTHX_ self, ix, NULL);
  OUTPUT:
    RETVAL

void
filter_json_object(self, code = NULL)
    SV *self
    SV *code
  PPCODE:
    ice_json_set_filter(aTHX_ self, code);
    XPUSHs(ST(0));

void
filter_json_single_key_object(self, key, code = NULL)
    SV *self
    SV *key
    SV *code
  PPCODE:
    ice_json_set_single_filter(aTHX_ self, key, code);
    XPUSHs(ST(0));

void
boolean_values(self, no = NULL, yes = NULL)
    SV *self
    SV *no
    SV *yes
  PPCODE:
    ice_json_set_boolean_values(aTHX_ self, no, yes);
    XPUSHs(ST(0));

void
get_boolean_values(self)
    SV *self
  PREINIT:
    SV *no, *yes;
  PPCODE:
    no = ice_json_boolean_value(aTHX_ self, FALSE);
    yes = ice_json_boolean_value(aTHX_ self, TRUE);
    if (no && yes) {
        EXTEND(SP, 2);
        PUSHs(sv_mortalcopy(no));
        PUSHs(sv_mortalcopy(yes));
    }

void
classes(self, classes = NULL)
    SV *self
    SV *classes
  PPCODE:
    ice_json_set_classes(aTHX_ self, classes);
    XPUSHs(ST(0));

SV *
encode(self, data)
    SV *self
    SV *data
  CODE:
    RETVAL = ice_json_encode(aTHX_ self, data);
  OUTPUT:
    RETVAL

SV *
decode(self, text)
    SV *self
    SV *text
  CODE:
    RETVAL = ice_json_decode(aTHX_ self, text, NULL);
  OUTPUT:
    RETVAL

# Returns the value and the number of characters of its text.

void
decode_prefix(self, text)
    SV *self
    SV *text
  PREINIT:
    SV *value;
    UV characters;
  PPCODE:
    PUTBACK;
    value = ice_json_decode(aTHX_ self, text, &characters);
    SPAGAIN;
    EXTEND(SP, 2);
    PUSHs(sv_2mortal(value));
    PUSHs(sv_2mortal(newSVuv(characters)));

# Returns all complete values in list context, and the first one in scalar context. In void context the
# piece is only appended.

void
incr_parse(self, piece = NULL)
    SV *self
    SV *piece
  PREINIT:
    SV *value;
    const U8 gimme = GIMME_V;
  PPCODE:
    PUTBACK;
    ice_json_append(aTHX_ self, piece);
    SPAGAIN;
    if (gimme != G_VOID)
        do {
            PUTBACK;
            value = ice_json_next(aTHX_ self);
            SPAGAIN;
            if (value)
                XPUSHs(sv_2mortal(value));
        } while (value && gimme == G_LIST);

SV *
incr_text(self)
    SV *self
  ATTRS: lvalue
  CODE:
    RETVAL = ice_json_remaining_text(aTHX_ self);
  OUTPUT:
    RETVAL

void
incr_skip(self)
    SV *self
  ALIAS:
    incr_skip = ICE_JSON_SKIP
    incr_reset = ICE_JSON_RESET
  CODE:
    ice_json_skip_text(aTHX_ self, ix);
