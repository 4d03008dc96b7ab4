/* Incremental parsing of JSON. The pieces of a text are appended to json->text, and a scan looks
 * for the end of the text. A complete text is decoded. */
#include "json/json.h"

/* States of the scan. */
enum {
    SCAN_BLANKS, /* before the text */
    SCAN_INSIDE, /* in the text, and in none of the states below */
    SCAN_STRING,
    SCAN_ESCAPE, /* after a backslash in a string */
    SCAN_NUMBER,
    SCAN_WORD, /* true, false, null */
    SCAN_COMMENT,
    SCAN_COMMENT_BEFORE /* in a comment before the text */
};

/* Returns true if the scan has found the end of a text. */
static bool
has_complete_text(const ice_json *json)
{
    return json->nesting <= 0 && json->state == SCAN_INSIDE;
}

/* Ends a scalar. Returns true if it is the whole text. */
static bool
end_scalar(ice_json *json)
{
    json->state = SCAN_INSIDE;
    return json->nesting <= 0;
}

/* Handles a byte in the state SCAN_INSIDE. Returns true if the text ends with it. */
static bool
scan_inside(pTHX_ ice_json *json, U8 byte)
{
    switch (byte) {
    case '"':
        json->state = SCAN_STRING;
        break;
    case '[':
    case '{':
        if (++json->nesting > (IV)json->max_depth)
            croak(IJ_MAX_DEPTH_MESSAGE);
        break;
    case ']':
    case '}':
        return --json->nesting <= 0;
    case '#':
        json->state = SCAN_COMMENT;
        break;
    case 't':
    case 'f':
    case 'n':
        json->state = SCAN_WORD;
        break;
    default:
        if (byte == '-' || isDIGIT_A(byte))
            json->state = SCAN_NUMBER;
    }
    return FALSE;
}

/* Scans to the end of the text, or to the end of the pieces that were appended so far. After
 * `continue`, the next state handles the same byte. */
static void
scan_text(pTHX_ ice_json *json)
{
    const U8 *start = (const U8 *)SvPVX(json->text), *end = start + SvCUR(json->text),
             *position = start + json->scanned;
    bool is_at_end = FALSE;
    while (position < end && !is_at_end) {
        const U8 byte = *position;
        switch (json->state) {
        case SCAN_BLANKS:
            if (byte == '#')
                json->state = SCAN_COMMENT_BEFORE;
            else if (byte > 0x20) {
                json->state = SCAN_INSIDE;
                continue;
            }
            break;
        case SCAN_INSIDE:
            /* A blank after a scalar is not part of the text. */
            if (json->nesting <= 0 && (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r')) {
                is_at_end = TRUE;
                continue;
            }
            is_at_end = scan_inside(aTHX_ json, byte);
            break;
        case SCAN_STRING:
            if (byte == '\\')
                json->state = SCAN_ESCAPE;
            else if (byte == '"')
                is_at_end = end_scalar(json);
            break;
        case SCAN_ESCAPE:
            json->state = SCAN_STRING;
            break;
        case SCAN_NUMBER:
            if (!isDIGIT_A(byte) && byte != '.' && byte != 'e' && byte != 'E' && byte != '+' && byte != '-') {
                is_at_end = end_scalar(json);
                continue;
            }
            break;
        case SCAN_WORD:
            if (!isLOWER_A(byte)) {
                is_at_end = end_scalar(json);
                continue;
            }
            break;
        default:
            if (byte == '\n')
                json->state = json->state == SCAN_COMMENT ? SCAN_INSIDE : SCAN_BLANKS;
        }
        position++;
    }
    /* As in JSON::XS, a number or a word ends with the piece, although the next piece may continue
     * it. */
    if (!is_at_end && (json->state == SCAN_NUMBER || json->state == SCAN_WORD))
        is_at_end = end_scalar(json);
    json->scanned = (STRLEN)(position - start);
}

/* Removes the first `count` bytes of the pieces, and begins a new scan. */
static void
remove_front(pTHX_ ice_json *json, STRLEN count)
{
    sv_chop(json->text, SvPVX(json->text) + count);
    json->scanned = 0;
    json->nesting = 0;
    json->state = SCAN_BLANKS;
}

/* Converts the pieces so far to bytes or to characters, depending on the flag utf8. `scanned` is a
 * number of bytes in the encoding of perl's string, so it changes with this encoding. */
static void
convert_encoding(pTHX_ ice_json *json)
{
    const bool wants_bytes = (json->flags & J_UTF8) != 0;
    if (!json->text)
        json->text = newSVpvs("");
    if (wants_bytes == !SvUTF8(json->text))
        return;
    if (wants_bytes) {
        if (json->scanned)
            json->scanned = (STRLEN)utf8_length((U8 *)SvPVX(json->text), (U8 *)SvPVX(json->text) + json->scanned);
        sv_utf8_downgrade(json->text, FALSE);
    } else {
        const STRLEN scanned = json->scanned;
        sv_utf8_upgrade(json->text);
        SvUTF8_on(json->text);
        json->scanned = (STRLEN)(utf8_hop((U8 *)SvPVX(json->text), (SSize_t)scanned) - (U8 *)SvPVX(json->text));
    }
}

/* Appends a piece. */
void
ice_json_append(pTHX_ SV *self, SV *piece)
{
    ice_json *json = ij_from_object(aTHX_ self);
    convert_encoding(aTHX_ json);
    if (piece && SvOK(piece)) {
        STRLEN len;
        const char *text;
        SvGETMAGIC(piece);
        if (!SvUTF8(json->text) == !SvUTF8(piece))
            text = SvPV_nomg(piece, len);
        else {
            piece = sv_2mortal(newSVsv_nomg(piece));
            if (SvUTF8(json->text))
                sv_utf8_upgrade(piece);
            else
                sv_utf8_downgrade(piece, FALSE);
            text = SvPV(piece, len);
        }
        sv_catpvn_nomg(json->text, text, len);
    }
}

/* Returns the next complete text, decoded; NULL if there is none. */
SV *
ice_json_next(pTHX_ SV *self)
{
    ice_json *json = ij_from_object(aTHX_ self);
    SV *result, *text;
    STRLEN len, consumed;
    convert_encoding(aTHX_ json);
    if (!has_complete_text(json)) {
        scan_text(aTHX_ json);
        if (json->max_size && json->scanned > json->max_size)
            croak("attempted decode of JSON text of %lu bytes size, but max_size is set to %lu",
                  (unsigned long)json->scanned, (unsigned long)json->max_size);
        if (!has_complete_text(json)) {
            if (json->state == SCAN_BLANKS && json->scanned) {
                json->scanned = 0;
                SvCUR_set(json->text, 0);
            }
            return NULL;
        }
    }
    /* The text is copied, because a filter may call this function again. */
    len = json->scanned;
    text = sv_2mortal(newSVpvn(SvPVX(json->text), len));
    result = ij_decode(aTHX_ json, SvPVX(text), len, cBOOL(SvUTF8(json->text)), &consumed, NULL);
    if (json->text)
        remove_front(aTHX_ json, consumed < SvCUR(json->text) ? consumed : SvCUR(json->text));
    return result;
}

/* Returns the text that was not decoded yet. */
SV *
ice_json_remaining_text(pTHX_ SV *self)
{
    ice_json *json = ij_from_object(aTHX_ self);
    if (json->scanned)
        croak("incr_text can not be called when the incremental parser already started parsing");
    return json->text ? SvREFCNT_inc_simple_NN(json->text) : &PL_sv_undef;
}

/* Discards the text that was scanned, or all pieces. */
void
ice_json_skip_text(pTHX_ SV *self, int action)
{
    ice_json *json = ij_from_object(aTHX_ self);
    if (action == ICE_JSON_RESET) {
        SvREFCNT_dec(json->text);
        json->text = NULL;
        json->scanned = 0;
        json->nesting = 0;
        json->state = SCAN_BLANKS;
    } else if (json->scanned)
        remove_front(aTHX_ json, json->scanned);
}
