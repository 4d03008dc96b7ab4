/* Errors of a text, with the messages and offsets of Cpanel::JSON::XS. The engine has refused the text already, so
 * this code may be slow: it reads the text again, as that module does, until the first error. It has a stack of its
 * own, and does not read beyond the end. */
#include "json/cpanel.h"

typedef struct {
    const ice_json *json;
    const char *start, *end, *position;
    const char *message; /* of the error; NULL as long as there is none */
    bool gave_up;        /* the error can't be found here */
    SV *stack;           /* a byte for each open container: `[` or `{` */
    AV *keys;            /* the keys so far, for each open container */
} text_scan;

/* Returns the byte at the position, and 0 at the end of the text, as after perl's strings. */
PERL_STATIC_INLINE char
peek(const text_scan *scan)
{
    return scan->position < scan->end ? *scan->position : 0;
}

PERL_STATIC_INLINE bool
has_option(const text_scan *scan, U32 flag)
{
    return (scan->json->flags & flag) != 0;
}

/* Sets the error, and returns false. */
static bool
fail(text_scan *scan, const char *message)
{
    scan->message = message;
    return FALSE;
}

static void
skip_blanks(text_scan *scan)
{
    while (scan->position < scan->end) {
        const char byte = *scan->position;
        if (byte == '#' && has_option(scan, J_RELAXED)) {
            while (peek(scan) && peek(scan) != '\n' && peek(scan) != '\r')
                scan->position++;
            if (!peek(scan))
                return;
        } else if (byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t')
            return;
        scan->position++;
    }
}

/* Reads four hexadecimal digits. Returns -1 after an error. */
static int
scan_hex4(text_scan *scan)
{
    int value = 0, i;
    for (i = 0; i < 4; i++) {
        const char digit = scan->position + i < scan->end ? scan->position[i] : 0;
        if (!isXDIGIT_A(digit)) {
            fail(scan, "exactly four hexadecimal digits expected");
            return -1;
        }
        value = value << 4 | (int)XDIGIT_VALUE(digit);
    }
    scan->position += 4;
    return value;
}

static bool
scan_unicode_escape(pTHX_ text_scan *scan, SV *text)
{
    int code = scan_hex4(scan), low;
    char buffer[UTF8_MAXBYTES + 1];
    if (code < 0)
        return FALSE;
    if (has_option(scan, J_BINARY))
        return fail(scan, "illegal unicode character in binary string");
    if (code >= 0xD800 && code < 0xDC00) {
        if (scan->end - scan->position < 2 || scan->position[0] != '\\' || scan->position[1] != 'u')
            return fail(scan, "missing low surrogate character in surrogate pair");
        scan->position += 2;
        low = scan_hex4(scan);
        if (low < 0)
            return FALSE;
        if (low < 0xDC00 || low >= 0xE000)
            return fail(scan, "surrogate pair expected");
        code = (code - 0xD800) * 0x400 + (low - 0xDC00) + 0x10000;
    } else if (code >= 0xDC00 && code < 0xE000)
        return fail(scan, "missing high surrogate character in surrogate pair");
    sv_catpvn(text, buffer, (STRLEN)((char *)uvchr_to_utf8((U8 *)buffer, (UV)code) - buffer));
    return TRUE;
}

/* Reads the digits of an escape of a byte. */
static bool
scan_byte_escape(pTHX_ text_scan *scan, SV *text, int count, const char *no_binary, const char *no_digits)
{
    int value = 0, i;
    if (!has_option(scan, J_BINARY))
        return fail(scan, no_binary);
    for (i = 0; i < count; i++) {
        const char digit = scan->position + i < scan->end ? scan->position[i] : 0;
        if (count == 2 ? !isXDIGIT_A(digit) : !isOCTAL_A(digit))
            return fail(scan, no_digits);
        value = count == 2 ? value << 4 | (int)XDIGIT_VALUE(digit) : value << 3 | (digit - '0');
    }
    scan->position += count;
    sv_catpvf(text, "%c", value & 0xFF);
    return TRUE;
}

/* Reads an escape, after its backslash. */
static bool
scan_escape(pTHX_ text_scan *scan, SV *text)
{
    const char letter = peek(scan);
    static const char letters[] = "bfnrt", values[] = "\b\f\n\r\t";
    const char *found;
    switch (letter) {
    case '"':
    case '\\':
    case '/':
        sv_catpvn(text, &letter, 1);
        scan->position++;
        return TRUE;
    case 'x':
        if (has_option(scan, J_BINARY))
            scan->position++;
        return scan_byte_escape(aTHX_ scan, text, 2, "illegal hex character in non-binary string",
                                "exactly two hexadecimal digits expected");
    case 'u':
        scan->position++;
        return scan_unicode_escape(aTHX_ scan, text);
    default:
        if (isOCTAL_A(letter))
            return scan_byte_escape(aTHX_ scan, text, 3, "illegal octal character in non-binary string",
                                    "exactly three octal digits expected");
        if (letter && (found = strchr(letters, letter))) {
            sv_catpvn(text, values + (found - letters), 1);
            scan->position++;
            return TRUE;
        }
        scan->position--;
        return fail(scan, "illegal backslash escape sequence in string");
    }
}

/* Reads a string, after its quote. Its text is appended to `text`. */
static bool
scan_string(pTHX_ text_scan *scan, char quote, SV *text)
{
    for (;;) {
        const U8 byte = (U8)peek(scan);
        if (byte == (U8)quote && scan->position < scan->end) {
            scan->position++;
            if (quote == '\'' && !has_option(scan, J_ALLOW_SINGLEQUOTE))
                return fail(scan, "'\"' expected");
            return TRUE;
        }
        if (byte == '\\') {
            scan->position++;
            if (!scan_escape(aTHX_ scan, text))
                return FALSE;
        } else if (byte >= 0x80) {
            STRLEN char_len;
            (void)utf8n_to_uvchr((const U8 *)scan->position, (STRLEN)(scan->end - scan->position), &char_len,
                                 UTF8_CHECK_ONLY | (has_option(scan, J_RELAXED) ? 0 : UTF8_DISALLOW_SUPER));
            if (char_len == (STRLEN)-1)
                return fail(scan, "malformed UTF-8 character in JSON string");
            sv_catpvn(text, scan->position, char_len);
            scan->position += char_len;
        } else if (byte >= 0x20 || (byte == '\t' && has_option(scan, J_RELAXED))) {
            sv_catpvn(text, scan->position, 1);
            scan->position++;
        } else
            return fail(scan, byte ? "invalid character encountered while parsing JSON string"
                                   : "unexpected end of string while parsing JSON string");
    }
}

static bool
scan_digits(text_scan *scan, const char *message)
{
    if (!isDIGIT_A(peek(scan)))
        return fail(scan, message);
    while (isDIGIT_A(peek(scan)))
        scan->position++;
    return TRUE;
}

static bool
scan_number(text_scan *scan)
{
    if (peek(scan) == '-')
        scan->position++;
    if (peek(scan) == '0') {
        scan->position++;
        if (isDIGIT_A(peek(scan)))
            return fail(scan, "malformed number (leading zero must not be followed by another digit)");
    } else if (!scan_digits(scan, "malformed number (no digits after initial minus)"))
        return FALSE;
    if (peek(scan) == '.') {
        scan->position++;
        if (!scan_digits(scan, "malformed number (no digits after decimal point)"))
            return FALSE;
    }
    if (peek(scan) == 'e' || peek(scan) == 'E') {
        scan->position++;
        if (peek(scan) == '-' || peek(scan) == '+')
            scan->position++;
        if (!scan_digits(scan, "malformed number (no digits after exp sign)"))
            return FALSE;
    }
    return TRUE;
}

static bool
scan_word(text_scan *scan, const char *word, const char *message)
{
    const STRLEN len = strlen(word);
    if ((STRLEN)(scan->end - scan->position) < len || memNE(scan->position, word, len))
        return fail(scan, message);
    scan->position += len;
    return TRUE;
}

/* Reads a key without quotes. As in that module, a quote ends it, too. */
static bool
scan_bare_key(pTHX_ text_scan *scan, SV *key)
{
    const char *start = scan->position;
    while (peek(scan) && !memCHRs(": \n\r\t\"", peek(scan)))
        scan->position++;
    if (scan->position >= scan->end) {
        scan->position++; /* that module looks one byte further */
        return fail(scan, "':' expected");
    }
    sv_catpvn(key, start, (STRLEN)(scan->position - start));
    if (peek(scan) == '"')
        scan->position++;
    return TRUE;
}

/* Reads a key, and the colon after it. */
static bool
scan_key(pTHX_ text_scan *scan)
{
    const char first = peek(scan), *start;
    SV *key = sv_2mortal(newSVpvs(""));
    HV *known = (HV *)AvARRAY(scan->keys)[AvFILLp(scan->keys)];
    bool is_short = TRUE; /* that module reads such a key in another way, and reports another offset */
    if (has_option(scan, J_ALLOW_BAREKEY) && first >= 'A' && first <= 'z') {
        start = scan->position;
        if (!scan_bare_key(aTHX_ scan, key))
            return FALSE;
    } else {
        const char *byte;
        if (first != '"' && !(first == '\'' && has_option(scan, J_ALLOW_SINGLEQUOTE)))
            return fail(scan, has_option(scan, J_ALLOW_SINGLEQUOTE) ? "'\"' or ''' expected" : "'\"' expected");
        start = ++scan->position;
        if (!scan_string(aTHX_ scan, first, key))
            return FALSE;
        is_short = scan->position - 1 - start < 24 && !has_option(scan, J_ALLOW_SINGLEQUOTE);
        for (byte = start; byte < scan->position - 1 && is_short; byte++)
            is_short = (U8)*byte < 0x80 && *byte != '\\';
    }
    if (!has_option(scan, J_ALLOW_DUPKEYS) && hv_exists_ent(known, key, 0)) {
        if (is_short)
            scan->position = start;
        return fail(scan, "Duplicate keys not allowed");
    }
    (void)hv_store_ent(known, key, newSV(0), 0);
    skip_blanks(scan);
    if (peek(scan) != ':')
        return fail(scan, "':' expected");
    scan->position++;
    skip_blanks(scan);
    return TRUE;
}

static void
open_container(pTHX_ text_scan *scan, char bracket)
{
    sv_catpvn(scan->stack, &bracket, 1);
    av_push(scan->keys, bracket == '{' ? (SV *)newHV() : newSV(0));
}

static void
close_container(pTHX_ text_scan *scan)
{
    SvCUR_set(scan->stack, SvCUR(scan->stack) - 1);
    SvREFCNT_dec(av_pop(scan->keys));
}

static bool scan_value(pTHX_ text_scan *scan, bool *is_open);

/* Reads the class in a tag. An array follows the tag. */
static bool
scan_tag(pTHX_ text_scan *scan, SV *text)
{
    scan->position++;
    skip_blanks(scan);
    if (peek(scan) != '"') {
        bool is_open;
        if (peek(scan) && memCHRs("[{('", peek(scan)))
            return scan->gave_up = TRUE, FALSE;
        return scan_value(aTHX_ scan, &is_open) && fail(scan, "malformed JSON string, (tag) must be a string");
    }
    scan->position++;
    if (!scan_string(aTHX_ scan, '"', text))
        return FALSE;
    skip_blanks(scan);
    if (peek(scan) != ')')
        return fail(scan, ") expected after tag");
    scan->position++;
    skip_blanks(scan);
    return TRUE;
}

/* Reads what follows a tag. Whether its class exists is not an error of the text. */
static bool
scan_value_of_tag(pTHX_ text_scan *scan, bool *is_open)
{
    if (peek(scan) == '[')
        return scan_value(aTHX_ scan, is_open);
    if (peek(scan) == '{' || peek(scan) == '(')
        return scan->gave_up = TRUE, FALSE;
    return scan_value(aTHX_ scan, is_open) && fail(scan, "malformed JSON string, tag value must be an array");
}

/* Reads a value, or the beginning of a container. Sets `is_open` to true if its contents follow. */
static bool
scan_value(pTHX_ text_scan *scan, bool *is_open)
{
    const char first = peek(scan);
    SV *text = sv_2mortal(newSVpvs(""));
    *is_open = FALSE;
    switch (first) {
    case '"':
        scan->position++;
        return scan_string(aTHX_ scan, '"', text);
    case '\'':
        if (!has_option(scan, J_ALLOW_SINGLEQUOTE))
            break;
        scan->position++;
        return scan_string(aTHX_ scan, '\'', text);
    case '[':
    case '{':
        scan->position++;
        open_container(aTHX_ scan, first);
        if (AvFILLp(scan->keys) + 1 > (SSize_t)scan->json->max_depth)
            return fail(scan, IJ_MAX_DEPTH_MESSAGE);
        skip_blanks(scan);
        if (peek(scan) == (first == '[' ? ']' : '}')) {
            scan->position++;
            close_container(aTHX_ scan);
            return TRUE;
        }
        *is_open = TRUE;
        return first == '[' || scan_key(aTHX_ scan);
    case '(':
        if (!has_option(scan, J_ALLOW_TAGS))
            return fail(scan, "malformed JSON string, neither array, object, number, string or atom");
        return scan_tag(aTHX_ scan, text) && scan_value_of_tag(aTHX_ scan, is_open);
    case 't':
        return scan_word(scan, "true", "'true' expected");
    case 'f':
        return scan_word(scan, "false", "'false' expected");
    case 'n':
        return scan_word(scan, "null", "'null' expected");
    default:
        if (first == '-' || isDIGIT_A(first))
            return scan_number(scan);
    }
    return fail(scan, "malformed JSON string, neither tag, array, object, number, string or atom");
}

/* Reads what follows a value, until the next value begins or the first value of the text ends. */
static bool
scan_after_value(pTHX_ text_scan *scan)
{
    while (SvCUR(scan->stack)) {
        const bool is_array = SvPVX(scan->stack)[SvCUR(scan->stack) - 1] == '[';
        const char close = is_array ? ']' : '}';
        skip_blanks(scan);
        if (peek(scan) == ',') {
            scan->position++;
            skip_blanks(scan);
            if (!(has_option(scan, J_RELAXED) && peek(scan) == close))
                return is_array || scan_key(aTHX_ scan);
        } else if (peek(scan) != close)
            return fail(scan, is_array ? ", or ] expected while parsing array"
                                       : ", or } expected while parsing object/hash");
        scan->position++;
        close_container(aTHX_ scan);
    }
    return TRUE;
}

/* Reads the whole text. Returns false after an error. */
static bool
scan_text(pTHX_ text_scan *scan, bool may_continue)
{
    bool is_open;
    skip_blanks(scan);
    do {
        if (!scan_value(aTHX_ scan, &is_open))
            return FALSE;
        if (!is_open && !scan_after_value(aTHX_ scan))
            return FALSE;
        FREETMPS; /* the texts of strings */
    } while (SvCUR(scan->stack));
    if (may_continue)
        return TRUE;
    skip_blanks(scan);
    return scan->position >= scan->end || fail(scan, "garbage after JSON object");
}

/* Returns the beginning of a text for an error message. Without warnings, perl shows malformed UTF-8 as U+FFFD. */
static const char *
following_text(pTHX_ const U8 *text, STRLEN len)
{
    SV *result = sv_2mortal(newSVpvs(""));
    COP without_warnings = *PL_curcop;
    without_warnings.cop_warnings = pWARN_NONE;
    ENTER;
    SAVEVPTR(PL_curcop);
    PL_curcop = &without_warnings;
    pv_uni_display(result, text, len, 20, UNI_DISPLAY_QQ);
    LEAVE;
    return SvPV_nolen(result);
}

static void
run_scan(pTHX_ text_scan *scan, bool may_continue)
{
    ENTER;
    SAVETMPS;
    scan->stack = newSVpvs("");
    SAVEFREESV(scan->stack);
    scan->keys = newAV();
    SAVEFREESV((SV *)scan->keys);
    (void)scan_text(aTHX_ scan, may_continue);
    FREETMPS;
    LEAVE;
}

STRLEN
ij_first_value_len(pTHX_ const ice_json *json, const char *text, STRLEN len)
{
    text_scan scan = { json, text, text + len, text, NULL, FALSE, NULL, NULL };
    run_scan(aTHX_ & scan, TRUE);
    return scan.message || scan.gave_up ? len : (STRLEN)(scan.position - text);
}

void
ij_croak_cpanel_error(pTHX_ const ice_json *json, const ij_text_origin *origin, SV *details)
{
    const char *start = origin->text, *end = origin->text + origin->len, *separator = details ? ": " : "";
    text_scan scan = { json, start, end, start, NULL, FALSE, NULL, NULL };
    const U8 *position;
    UV offset;
    if (!details)
        details = sv_2mortal(newSVpvs(""));
    run_scan(aTHX_ & scan, origin->may_continue);
    if (!scan.message || scan.gave_up)
        return;
    position = (const U8 *)scan.position;
    if (!origin->is_text)
        offset = (UV)(scan.position - start);
    else if (scan.position <= end)
        offset = (UV)utf8_length((const U8 *)start, position);
    else
        offset = (UV)utf8_length((const U8 *)start, (const U8 *)end) + 1;
    offset += origin->mark_len ? 1 : 0; /* a mark in UTF-8 is a character */
    if (scan.position >= end)
        croak("%s, at character offset %" UVuf "%s%" SVf, scan.message, offset, separator, SVfARG(details));
    croak("%s, at character offset %" UVuf " (before \"%s\")%s%" SVf, scan.message, offset,
          following_text(aTHX_ position, (STRLEN)(end - scan.position)), separator, SVfARG(details));
}
