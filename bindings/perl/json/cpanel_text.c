/* Texts that Cpanel::JSON::XS accepts in addition to JSON: byte order marks, and escapes of bytes. */
#include "json/cpanel.h"

#define BEGINS_WITH(text, len, prefix) ((len) >= sizeof(prefix) - 1 && memEQ(text, prefix, sizeof(prefix) - 1))

/* Calls Encode::decode. */
static SV *
decode_characters(pTHX_ const char *encoding, SV *text)
{
    SV *arguments[2];
    CV *decode;
    load_module(PERL_LOADMOD_NOIMPORT, newSVpvs("Encode"), NULL);
    decode = get_cv("Encode::decode", 0);
    if (!decode)
        croak("Icecore: Encode has no function decode");
    arguments[0] = sv_2mortal(newSVpv(encoding, 0));
    arguments[1] = text;
    return ice_call_scalar(aTHX_ (SV *)decode, arguments, 2);
}

SV *
ij_skip_byte_order_mark(pTHX_ SV *text, STRLEN *mark_len)
{
    STRLEN len;
    const char *bytes = SvPV_nomg(text, len);
    const char *encoding;
    *mark_len = 0;
    if (len <= 2)
        return NULL;
    if (BEGINS_WITH(bytes, len, "\xEF\xBB\xBF")) {
        SV *rest = sv_2mortal(newSVpvn(bytes + 3, len - 3));
        SvUTF8_on(rest);
        *mark_len = 3;
        return rest;
    }
    if (len >= 4 && (BEGINS_WITH(bytes, len, "\xFF\xFE\0\0") || BEGINS_WITH(bytes, len, "\0\0\xFE\xFF")))
        encoding = "UTF-32";
    else if (BEGINS_WITH(bytes, len, "\xFE\xFF") || BEGINS_WITH(bytes, len, "\xFF\xFE"))
        encoding = "UTF-16";
    else
        return NULL;
    text = decode_characters(aTHX_ encoding, sv_2mortal(newSVpvn(bytes, len)));
    sv_utf8_upgrade(text);
    return text;
}

/* Returns the byte of an escape of two hexadecimal or three octal digits; -1 if it is not complete. */
static int
escaped_byte(const char *escape, const char *end)
{
    const char *digits;
    if (*escape == 'x') {
        digits = escape + 1;
        return end - digits >= 2 && isXDIGIT_A(digits[0]) && isXDIGIT_A(digits[1])
                 ? (int)(XDIGIT_VALUE(digits[0]) << 4 | XDIGIT_VALUE(digits[1]))
                 : -1;
    }
    digits = escape;
    return end - digits >= 3 && isOCTAL_A(digits[0]) && isOCTAL_A(digits[1]) && isOCTAL_A(digits[2])
             ? ((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + digits[2] - '0') & 0xFF
             : -1;
}

SV *
ij_convert_binary_escapes(pTHX_ const char *text, STRLEN len, bool *has_bytes)
{
    const char *end = text + len, *escape;
    SV *result = sv_2mortal(newSVpvs(""));
    while ((escape = (const char *)memchr(text, '\\', (size_t)(end - text))) && escape + 1 < end) {
        const char letter = escape[1];
        const int byte = letter == 'x' || isOCTAL_A(letter) ? escaped_byte(escape + 1, end) : -1;
        sv_catpvn(result, text, (STRLEN)(escape - text));
        if (byte >= 0) {
            sv_catpvf(result, "\\u%04x", (unsigned)byte);
            *has_bytes |= byte >= 0x80;
            text = escape + 4;
        } else if (letter == 'u') { /* these texts must not have it, so it becomes an error */
            sv_catpvs(result, "\\?");
            text = escape + 2;
        } else {
            sv_catpvn(result, escape, 2);
            text = escape + 2;
        }
    }
    sv_catpvn(result, text, (STRLEN)(end - text));
    return result;
}

/* Returns the code unit of an escape such as \ufdd0; -1 if there is none. */
static int
escaped_unit(const char *escape, const char *end)
{
    int value = 0, i;
    if (end - escape < 6 || escape[0] != '\\' || escape[1] != 'u')
        return -1;
    for (i = 2; i < 6; i++) {
        if (!isXDIGIT_A(escape[i]))
            return -1;
        value = value << 4 | (int)XDIGIT_VALUE(escape[i]);
    }
    return value;
}

void
ij_warn_of_noncharacters(pTHX_ const char *text, STRLEN len)
{
    const char *end = text + len, *escape = text;
    if (!ckWARN_d(WARN_NONCHAR))
        return;
    while ((escape = (const char *)memchr(escape, '\\', (size_t)(end - escape))) && escape + 1 < end) {
        UV code = (UV)escaped_unit(escape, end);
        const int low = code - 0xD800 < 0x400 ? escaped_unit(escape + 6, end) : -1;
        escape += 2;
        if (low >= 0xDC00 && low < 0xE000) {
            code = (code - 0xD800) * 0x400 + (UV)(low - 0xDC00) + 0x10000;
            escape += 10;
        }
        if ((code >= 0xFDD0 && code <= 0xFDEF) || (code <= PERL_UNICODE_MAX && (code & 0xFFFE) == 0xFFFE))
            Perl_ck_warner_d(aTHX_ packWARN(WARN_NONCHAR),
                             "Unicode non-character U+%04" UVXf " is not recommended for open interchange", code);
    }
}
