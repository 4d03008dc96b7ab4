/* Tasks that are left to perl's own pack and unpack: overloaded objects, ties, strings that were
 * used as numbers, warnings, and perl's messages for errors of a template. */
#include "pack/pack.h"

/* Flags of `unpackstring`. perl's headers have no names for them. */
enum { DO_UTF8_FLAG = 0x08, ONLY_ONE_FLAG = 0x10 };

/* Returns true if a template has pointers into memory, which are never packed or unpacked. */
static bool
has_pointer(const char *position, const char *end)
{
    for (; position < end; position++)
        if (*position == 'p' || *position == 'P')
            return TRUE;
        else if (*position == '#')
            while (position < end && *position != '\n')
                position++;
    return FALSE;
}

bool
ip_perl_warns(const char *position, const char *end)
{
    const char *modifiers = position; /* start of the current modifiers */
    for (; position < end; position++) {
        if (*position == ',')
            return TRUE;
        if (*position == '#')
            while (position < end && *position != '\n')
                position++;
        else if (*position == 'u' && position + 1 < end && isDIGIT(position[1]))
            return TRUE; /* the number is the length of a line, and may be too large */
        else if (position < end && memCHRs("!<>", *position)) {
            if (memchr(modifiers, *position, (size_t)(position - modifiers)))
                return TRUE;
            continue;
        }
        modifiers = position + 1;
    }
    return FALSE;
}

bool
ip_can_use_perl(pTHX_ SV *template, const icecore_error *error)
{
    STRLEN len;
    const char *text = SvPV(template, len);
    return !(error && error->kind == ICECORE_LIMIT) && !has_pointer(text, text + len);
}

/* Sets the operator that perl's warnings name, until perl leaves the scope. */
static void
set_current_operator(pTHX_ U16 type)
{
    static OP pack, unpack;
    pack.op_type = OP_PACK;
    unpack.op_type = OP_UNPACK;
    SAVEVPTR(PL_op);
    PL_op = type == OP_PACK ? &pack : &unpack;
}

void
ip_pack_by_perl(pTHX_ SV *template, I32 position, I32 count, SV *result)
{
    STRLEN len;
    const char *text = SvPV(template, len);
    SV **list;
    /* The items are copied, because overloaded objects may move perl's stack. */
    Newx(list, count + 1, SV *);
    SAVEFREEPV(list);
    Copy(PL_stack_base + position, list, count, SV *);
    set_current_operator(aTHX_ OP_PACK);
    packlist(result, text, text + len, list, list + count);
}

SV **
ip_unpack_by_perl(pTHX_ SV **sp, SV *template, SV *bytes, bool first_only)
{
    STRLEN len, template_len;
    const char *text = SvPV_nomg(bytes, len), *pattern = SvPV(template, template_len);
    SSize_t count;
    ENTER;
    set_current_operator(aTHX_ OP_UNPACK);
    PL_stack_sp = sp;
    count = unpackstring(pattern, pattern + template_len, text, text + len,
                         (SvUTF8(bytes) ? DO_UTF8_FLAG : 0) | (first_only ? ONLY_ONE_FLAG : 0));
    sp = PL_stack_sp;
    LEAVE;
    if (first_only && !count)
        *++sp = &PL_sv_undef;
    return sp;
}
