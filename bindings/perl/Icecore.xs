/* What perl sees: arguments taken from perl's stack, and calls. */
#include "interface.h"
#include "json.h"

void ice_contexts_boot(pTHX);
void ice_contexts_clone(pTHX);
void ice_build_boot(pTHX);

static void
at_end(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    ice_storable_end(aTHX);
    ice_sereal_end(aTHX);
    ice_json_end(aTHX);
    ice_dumper_end(aTHX);
    ice_pack_end(aTHX);
    ice_contexts_free(aTHX);
}

/* The header, if it was asked for, and the body, if that was. */
static SV **
push_parts(pTHX_ SV **sp, int what, SV *header, SV *body)
{
    EXTEND(sp, 2);
    if (what != ICE_BODY)
        *++sp = header ? header : &PL_sv_undef;
    if (body)
        *++sp = sv_2mortal(body);
    return sp;
}

/* What a mortal list holds. */
static SV **
push_list(pTHX_ SV **sp, AV *list)
{
    SSize_t i;
    EXTEND(sp, AvFILL(list) + 1);
    for (i = 0; i <= AvFILL(list); i++) {
        SV **item = av_fetch(list, i, FALSE);
        *++sp = item ? sv_2mortal(SvREFCNT_inc_simple_NN(*item)) : &PL_sv_undef;
    }
    return sp;
}

MODULE = Icecore    PACKAGE = Icecore

PROTOTYPES: DISABLE

BOOT:
    if (icecore_tape_version() != ICECORE_TAPE_VERSION)
        croak("Icecore: the engine's tape has version %u, and the module is for %u", (unsigned)icecore_tape_version(),
              (unsigned)ICECORE_TAPE_VERSION);
    ice_storable_boot(aTHX);
    ice_sereal_boot(aTHX);
    ice_json_boot(aTHX);
    ice_dumper_boot(aTHX);
    ice_pack_boot(aTHX);
    ice_operators_boot(aTHX);
    ice_contexts_boot(aTHX);
    ice_build_boot(aTHX);
    call_atexit(at_end, NULL);

void
CLONE(...)
  CODE:
    PERL_UNUSED_VAR(items);
    ice_storable_clone(aTHX);
    ice_sereal_clone(aTHX);
    ice_json_clone(aTHX);
    ice_dumper_clone(aTHX);
    ice_pack_clone(aTHX);
    ice_contexts_clone(aTHX);
    call_atexit(at_end, NULL);

const char *
engine_version()
  CODE:
    RETVAL = icecore_version();
  OUTPUT:
    RETVAL

SV *
decode(bytes, ...)
    SV *bytes
  CODE:
    RETVAL = ice_decode(aTHX_ bytes, ax + 1, items - 1);
  OUTPUT:
    RETVAL

SV *
encode(data, format, ...)
    SV *data
    SV *format
  CODE:
    RETVAL = ice_encode(aTHX_ data, format, ax + 2, items - 2);
  OUTPUT:
    RETVAL

void
classes(bytes, ...)
    SV *bytes
  PREINIT:
    AV *list;
    SSize_t i;
    SV *format = NULL;
  PPCODE:
    if (items == 3 && strEQ(SvPV_nolen(ST(1)), "format"))
        format = ST(2);
    else if (items != 1)
        croak("Icecore: classes takes the bytes, and format => FORMAT");
    list = ice_classes(aTHX_ bytes, format);
    EXTEND(SP, AvFILLp(list) + 1);
    for (i = 0; i <= AvFILLp(list); i++)
        PUSHs(sv_2mortal(SvREFCNT_inc(AvARRAY(list)[i])));

SV *
pack_list(template, ...)
    SV *template
  CODE:
    RETVAL = ice_pack_list(aTHX_ template, ax + 1, items - 1);
  OUTPUT:
    RETVAL

void
unpack_list(template, bytes)
    SV *template
    SV *bytes
  PPCODE:
    SP = ice_unpack_list(aTHX_ SP, template, bytes);

MODULE = Icecore    PACKAGE = Icecore::Storable

SV *
freeze(ref, ...)
    SV *ref
  ALIAS:
    freeze = ICE_MEMORY
    nfreeze = ICE_MEMORY_NETORDER
    _image = ICE_FILE
    _nimage = ICE_FILE_NETORDER
  CODE:
    if (items > 1)
        croak("too many arguments");
    RETVAL = ice_freeze(aTHX_ ref, ix);
  OUTPUT:
    RETVAL

SV *
thaw(bytes, ...)
    SV *bytes
  CODE:
    SvGETMAGIC(bytes);
    if (!SvOK(bytes))
        XSRETURN_UNDEF;
    RETVAL = ice_thaw(aTHX_ bytes, ax + 1, items - 1);
  OUTPUT:
    RETVAL

bool
is_storing()
  ALIAS:
    is_storing = ICE_IS_STORING
    is_retrieving = ICE_IS_RETRIEVING
    last_op_in_netorder = ICE_LAST_NETORDER
  CODE:
    RETVAL = ice_storable_state(aTHX_ ix);
  OUTPUT:
    RETVAL

SV *
_more(handle, bytes)
    PerlIO *handle
    SV *bytes
  CODE:
    RETVAL = ice_more(aTHX_ handle, SvRV(bytes));
    if (!RETVAL)
        XSRETURN_UNDEF;
  OUTPUT:
    RETVAL

void
_unread(handle, bytes)
    PerlIO *handle
    SV *bytes
  PREINIT:
    STRLEN len;
    const char *text;
  CODE:
    text = SvPV(bytes, len);
    if (PerlIO_unread(handle, text, len) != (SSize_t)len)
        croak("Icecore: what was read too much could not be given back");

IV
_probe(bytes)
    SV *bytes
  CODE:
    RETVAL = ice_probe(aTHX_ bytes);
  OUTPUT:
    RETVAL

SV *
dclone(ref)
    SV *ref
  PROTOTYPE: $
  CODE:
    SvGETMAGIC(ref);
    if (!SvROK(ref)) {
        if (SvOK(ref))
            croak("Not a reference");
        XSRETURN_UNDEF;
    }
    RETVAL = ice_dclone(aTHX_ ref);
  OUTPUT:
    RETVAL

MODULE = Icecore    PACKAGE = Icecore::Sereal

SV *
encode_sereal(data, options = NULL)
    SV *data
    SV *options
  CODE:
    RETVAL = ice_sereal_encode(aTHX_ data, NULL, options);
  OUTPUT:
    RETVAL

SV *
encode_sereal_with_header_data(data, header, options = NULL)
    SV *data
    SV *header
    SV *options
  CODE:
    RETVAL = ice_sereal_encode(aTHX_ data, header, options);
  OUTPUT:
    RETVAL

SV *
decode_sereal(bytes, options = NULL, target = NULL)
    SV *bytes
    SV *options
    SV *target
  CODE:
    RETVAL = ice_sereal_decode(aTHX_ bytes, options, ICE_BODY, target, NULL);
  OUTPUT:
    RETVAL

void
_decode_with(bytes, options, what, target = NULL)
    SV *bytes
    SV *options
    int what
    SV *target
  PREINIT:
    SV *body, *header = NULL;
  PPCODE:
    PUTBACK;
    body = ice_sereal_decode(aTHX_ bytes, options, what, target, &header);
    SPAGAIN;
    SP = push_parts(aTHX_ SP, what, header, body);

SV *
sereal_encode_with_object(encoder, data, header = NULL)
    SV *encoder
    SV *data
    SV *header
  CODE:
    RETVAL = ice_encoder_encode(aTHX_ encoder, data, header);
  OUTPUT:
    RETVAL

SV *
sereal_decode_with_object(decoder, bytes, target = NULL)
    SV *decoder
    SV *bytes
    SV *target
  CODE:
    RETVAL = ice_decoder_decode(aTHX_ decoder, bytes, 0, ICE_BODY, target, NULL);
  OUTPUT:
    RETVAL

IV
_looks_like(sv)
    SV *sv
  CODE:
    RETVAL = ice_looks_like_sereal(aTHX_ sv);
  OUTPUT:
    RETVAL

MODULE = Icecore    PACKAGE = Icecore::Sereal::Encoder

SV *
new(class, options = NULL)
    SV *class
    SV *options
  CODE:
    RETVAL = ice_encoder_new(aTHX_ class, options);
  OUTPUT:
    RETVAL

SV *
encode(self, data, header = NULL)
    SV *self
    SV *data
    SV *header
  CODE:
    RETVAL = ice_encoder_encode(aTHX_ self, data, header);
  OUTPUT:
    RETVAL

U32
flags(self)
    SV *self
  CODE:
    RETVAL = ice_encoder_flags(aTHX_ self);
  OUTPUT:
    RETVAL

void
DESTROY(self)
    SV *self
  CODE:
    ice_encoder_destroy(aTHX_ self);

MODULE = Icecore    PACKAGE = Icecore::Sereal::Decoder

SV *
new(class, options = NULL)
    SV *class
    SV *options
  CODE:
    RETVAL = ice_decoder_new(aTHX_ class, options);
  OUTPUT:
    RETVAL

SV *
decode(self, bytes, target = NULL)
    SV *self
    SV *bytes
    SV *target
  CODE:
    RETVAL = ice_decoder_decode(aTHX_ self, bytes, 0, ICE_BODY, target, NULL);
  OUTPUT:
    RETVAL

void
_decode(self, bytes, offset, what, target = NULL)
    SV *self
    SV *bytes
    UV offset
    int what
    SV *target
  PREINIT:
    SV *body, *header = NULL;
  PPCODE:
    PUTBACK;
    body = ice_decoder_decode(aTHX_ self, bytes, offset, what, target, &header);
    SPAGAIN;
    SP = push_parts(aTHX_ SP, what, header, body);

bool
_is_incremental(self)
    SV *self
  CODE:
    RETVAL = ice_decoder_is_incremental(aTHX_ self);
  OUTPUT:
    RETVAL

UV
bytes_consumed(self)
    SV *self
  CODE:
    RETVAL = ice_decoder_consumed(aTHX_ self);
  OUTPUT:
    RETVAL

void
DESTROY(self)
    SV *self
  CODE:
    ice_decoder_destroy(aTHX_ self);

MODULE = Icecore    PACKAGE = Icecore::JSON

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
_booleans(no, yes)
    SV *no
    SV *yes
  CODE:
    ice_json_booleans(aTHX_ no, yes);

SV *
new(class)
    SV *class
  CODE:
    RETVAL = ice_json_new(aTHX_ class);
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
    ice_json_set(aTHX_ self, (U32)ix, enable);
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
    RETVAL = ice_json_get(aTHX_ self, (U32)ix);
  OUTPUT:
    RETVAL

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
        value = sv_2mortal(newSVuv(ix == ICE_JSON_DEPTH ? 0x80000000 : ix == ICE_JSON_SIZE ? 0 : ix == ICE_JSON_INDENT ? 3 : 1));
    ice_json_number(aTHX_ self, ix, value);
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
    RETVAL = ice_json_number(aTHX_ self, ix, NULL);
  OUTPUT:
    RETVAL

void
filter_json_object(self, code = NULL)
    SV *self
    SV *code
  PPCODE:
    ice_json_filter(aTHX_ self, code);
    XPUSHs(ST(0));

void
filter_json_single_key_object(self, key, code = NULL)
    SV *self
    SV *key
    SV *code
  PPCODE:
    ice_json_single_filter(aTHX_ self, key, code);
    XPUSHs(ST(0));

void
boolean_values(self, no = NULL, yes = NULL)
    SV *self
    SV *no
    SV *yes
  PPCODE:
    ice_json_boolean_values(aTHX_ self, no, yes);
    XPUSHs(ST(0));

void
get_boolean_values(self)
    SV *self
  PREINIT:
    SV *no, *yes;
  PPCODE:
    no = ice_json_boolean(aTHX_ self, FALSE);
    yes = ice_json_boolean(aTHX_ self, TRUE);
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
    ice_json_classes(aTHX_ self, classes);
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
    RETVAL = ice_json_text(aTHX_ self);
  OUTPUT:
    RETVAL

void
incr_skip(self)
    SV *self
  ALIAS:
    incr_skip = 0
    incr_reset = 1
  CODE:
    ice_json_skip(aTHX_ self, ix == 1);

MODULE = Icecore    PACKAGE = Icecore::Dumper

void
Dumper(...)
  PREINIT:
    AV *texts = GIMME_V == G_LIST && items > 1 ? (AV *)sv_2mortal((SV *)newAV()) : NULL;
    SV *text;
  PPCODE:
    PUTBACK;
    text = ice_dumper_dump(aTHX_ ax, items, texts);
    SPAGAIN;
    if (text)
        XPUSHs(text);
    else
        SP = push_list(aTHX_ SP, texts);

SV *
new(class, values, names = NULL)
    SV *class
    SV *values
    SV *names
  CODE:
    RETVAL = ice_dumper_new(aTHX_ class, values, names);
  OUTPUT:
    RETVAL

void
DESTROY(self)
    SV *self
  CODE:
    ice_dumper_destroy(aTHX_ self);

void
Dump(self, ...)
    SV *self
  ALIAS:
    Dump = 0
    Dumpxs = 1
    Dumpperl = 2
  PREINIT:
    AV *texts = GIMME_V == G_LIST ? (AV *)sv_2mortal((SV *)newAV()) : NULL;
    SV *text;
  PPCODE:
    PERL_UNUSED_VAR(ix);
    if (!SvROK(self)) {
        if (items < 2)
            croak("Usage:  PACKAGE->new(ARRAYREF [, ARRAYREF])");
        self = sv_2mortal(ice_dumper_new(aTHX_ self, ST(1), items > 2 ? ST(2) : NULL));
    }
    PUTBACK;
    text = ice_dumper_object_dump(aTHX_ self, texts);
    SPAGAIN;
    if (text)
        XPUSHs(text);
    else
        SP = push_list(aTHX_ SP, texts);

void
Values(self, list = NULL)
    SV *self
    SV *list
  ALIAS:
    Values = 0
    Names = 1
  PREINIT:
    AV *held;
  PPCODE:
    held = ice_dumper_list(aTHX_ self, ix == 1, list);
    if (list)
        XPUSHs(ST(0));
    else if (held)
        SP = push_list(aTHX_ SP, held);

void
Purity(self, value = NULL)
    SV *self
    SV *value
  ALIAS:
    Purity = 0
    Terse = 1
    Useqq = 2
    Deepcopy = 3
    Quotekeys = 4
    Trailingcomma = 5
    Useperl = 6
    Sparseseen = 7
    Deparse = 8
    Indent = 9
    Maxdepth = 10
    Maxrecurse = 11
    Pad = 12
    Varname = 13
    Pair = 14
    Bless = 15
    Freezer = 16
    Toaster = 17
    Sortkeys = 18
  PREINIT:
    SV *setting;
  PPCODE:
    setting = ice_dumper_setting(aTHX_ self, ix, value);
    XPUSHs(value ? ST(0) : setting);

void
undump(text, ...)
    SV *text
  PREINIT:
    AV *values = NULL;
    SV *value;
  PPCODE:
    PUTBACK;
    value = ice_undump(aTHX_ text, ax + 1, items - 1, &values);
    SPAGAIN;
    if (value)
        XPUSHs(value);
    else if (GIMME_V == G_LIST)
        SP = push_list(aTHX_ SP, values);
    else
        XPUSHs(sv_2mortal(SvREFCNT_inc(AvARRAY(values)[AvFILLp(values)])));
