/* Reads exactly the bytes of one document from an IO.
 *
 * Only the structure is parsed: how many bytes and values must at least follow. The
 * calls are the same as Marshal's, getbyte and read, so an object that has only these
 * two works too. The engine interprets and checks the bytes. */
#include "core/documents.h"

/* At most this many bytes are requested at once: a length may promise more than there
 * is. */
#define MOST 65536
#define BUFFER 8192

/* What is expected, innermost last. */
typedef enum {
    VALUES,
    ENTRIES, /* two values */
    PAIRS,   /* a symbol and a value */
    COUNT,   /* a number of pairs, and the pairs */
    BYTES
} expecting;

typedef struct {
    expecting what;
    bool is_counted; /* Marshal counts on its values when it reads ahead */
    bool has_half;   /* the first value of a pair was read */
    bool is_due;     /* a value was read since the last step */
    long left;
    long step;       /* number of values per item */
} waiting;

typedef struct {
    VALUE io, bytes; /* all bytes so far */
    VALUE stack;     /* a string that contains structs `waiting` */
    VALUE ahead;     /* bytes that were read ahead */
    long at;         /* position in `ahead` */
    long readable;
    bool is_wrong;   /* the engine will report the error */
} stream;

NORETURN(static void too_short(void));

static void
too_short(void)
{
    ice_raise(ice_argument_error, "truncated", "", "marshal data too short");
}

static VALUE
ask(stream *s, long count)
{
    VALUE n = LONG2NUM(count), got = rb_funcallv(s->io, rb_intern("read"), 1, &n);
    if (NIL_P(got))
        too_short();
    return StringValue(got);
}

static long
left_ahead(const stream *s)
{
    return NIL_P(s->ahead) ? 0 : RSTRING_LEN(s->ahead) - s->at;
}

static int
take_byte(stream *s)
{
    unsigned char byte;
    if (s->readable > 0 || left_ahead(s) > 0) {
        if (left_ahead(s) <= 0) {
            const long count = s->readable < BUFFER ? s->readable : BUFFER;
            VALUE got = ask(s, count);
            if (RSTRING_LEN(got) < count)
                too_short();
            s->ahead = rb_str_new_frozen(got);
            s->at = 0;
        }
        byte = (unsigned char)RSTRING_PTR(s->ahead)[s->at++];
    } else {
        VALUE got = rb_funcallv(s->io, rb_intern("getbyte"), 0, NULL);
        if (NIL_P(got))
            ice_raise(ice_eof_error, "truncated", "", "end of file reached");
        byte = (unsigned char)NUM2CHR(got);
    }
    rb_str_cat(s->bytes, (const char *)&byte, 1);
    return byte;
}

static void
take(stream *s, long count)
{
    const long have = left_ahead(s);
    const bool reads_ahead = s->readable > 0 || have > 0;
    if (count <= 0)
        return;
    if (have) {
        const long taken = count < have ? count : have;
        rb_str_cat(s->bytes, RSTRING_PTR(s->ahead) + s->at, taken);
        s->at += taken;
        count -= taken;
    }
    while (count > 0) {
        const long part = count < MOST ? count : MOST;
        long wanted = part;
        VALUE got;
        if (reads_ahead && part == count) {
            const long readable = s->readable + 1 < BUFFER ? s->readable + 1 : BUFFER;
            wanted = part > readable ? part : readable;
        }
        got = ask(s, wanted);
        if (RSTRING_LEN(got) < part || (!reads_ahead && RSTRING_LEN(got) != part))
            too_short();
        rb_str_cat(s->bytes, RSTRING_PTR(got), part);
        if (RSTRING_LEN(got) > part) {
            s->ahead = rb_str_new_frozen(got);
            s->at = part;
        }
        count -= part;
    }
}

/* Reads a number as Marshal writes it; -1 if it is negative. */
static long
take_number(stream *s)
{
    const int head = (signed char)take_byte(s);
    uint64_t number = 0;
    int i;
    if (head > 4)
        return head - 5;
    if (head < -4)
        return head == -5 ? 0 : -1;
    for (i = 0; i < (head < 0 ? -head : head); i++)
        number |= (uint64_t)take_byte(s) << (8 * i);
    return head < 0 ? -1 : (long)number;
}

static void
take_bytes(stream *s)
{
    const long len = take_number(s);
    if (len < 0)
        s->is_wrong = true;
    else
        take(s, len);
}

static void
expect(stream *s, expecting what, long left, long step, bool is_counted)
{
    const waiting next = { what, is_counted, false, false, left, step };
    if (left < 0) {
        s->is_wrong = true;
        return;
    }
    if (is_counted && what != COUNT)
        s->readable += (left - 1) * step;
    rb_str_cat(s->stack, (const char *)&next, sizeof next);
}

/* Reads a symbol at a place where only a symbol is allowed. */
static void
take_symbol(stream *s)
{
    bool has_variables = false;
    int type = take_byte(s);
    if (type == 'I') {
        has_variables = true;
        type = take_byte(s);
    }
    if (type == ':')
        take_bytes(s);
    else if (type == ';')
        take_number(s);
    else
        s->is_wrong = true;
    if (has_variables && !s->is_wrong)
        expect(s, PAIRS, take_number(s), 2, false);
}

static void
take_value(stream *s)
{
    const int type = take_byte(s);
    switch (type) {
    case '0':
    case 'T':
    case 'F':
        break;
    case 'i':
    case ';':
    case '@':
        take_number(s);
        break;
    case ':':
    case '"':
    case 'f':
    case 'c':
    case 'm':
    case 'M':
        take_bytes(s);
        break;
    case '/':
        take_bytes(s);
        take_byte(s);
        break;
    case 'l': {
        long len;
        take_byte(s);
        len = take_number(s);
        if (len < 0)
            s->is_wrong = true;
        else
            take(s, 2 * len);
        break;
    }
    case '[':
        expect(s, VALUES, take_number(s), 1, true);
        break;
    case '{':
        expect(s, ENTRIES, take_number(s), 2, true);
        break;
    case '}':
        expect(s, VALUES, 1, 1, false);
        expect(s, ENTRIES, take_number(s), 2, true);
        break;
    case 'o':
    case 'S':
        expect(s, COUNT, 1, 2, type == 'S');
        take_symbol(s);
        break;
    case 'u':
        expect(s, BYTES, 1, 1, false);
        take_symbol(s);
        break;
    case 'U':
    case 'd':
    case 'e':
    case 'C':
        expect(s, VALUES, 1, 1, false);
        take_symbol(s);
        break;
    case 'I':
        expect(s, COUNT, 1, 2, false);
        expect(s, VALUES, 1, 1, false);
        break;
    default:
        s->is_wrong = true;
    }
}

static waiting *
top(stream *s)
{
    const long len = RSTRING_LEN(s->stack);
    return len ? (waiting *)(RSTRING_PTR(s->stack) + len - sizeof(waiting)) : NULL;
}

static void
drop_top(stream *s)
{
    rb_str_set_len(s->stack, RSTRING_LEN(s->stack) - sizeof(waiting));
}

/* Reads the next item that the innermost `waiting` expects. */
static void
step(stream *s)
{
    waiting *now = top(s);
    const expecting what = now->what;
    const bool is_counted = now->is_counted;
    if (what == COUNT || what == BYTES) {
        drop_top(s);
        if (what == BYTES)
            take_bytes(s);
        else
            expect(s, PAIRS, take_number(s), 2, is_counted);
        return;
    }
    if (now->is_due) {
        now->is_due = false;
        s->readable -= now->step;
    }
    if (now->left == 0) {
        if (is_counted)
            s->readable += now->step;
        drop_top(s);
        return;
    }
    if (what != VALUES && !now->has_half) {
        now->has_half = true;
        if (what == PAIRS)
            take_symbol(s);
        else
            take_value(s);
        return;
    }
    now->has_half = false;
    now->is_due = is_counted;
    now->left--;
    take_value(s);
}

VALUE
ice_stream_bytes(VALUE io)
{
    stream s = { io, rb_str_buf_new(0), rb_str_buf_new(0), Qnil, 0, 0, false };
    take_byte(&s);
    take_byte(&s);
    if ((unsigned char)RSTRING_PTR(s.bytes)[0] == 4 && (unsigned char)RSTRING_PTR(s.bytes)[1] <= 8) {
        take_value(&s);
        while (RSTRING_LEN(s.stack) && !s.is_wrong)
            step(&s);
    }
    RB_GC_GUARD(s.stack);
    RB_GC_GUARD(s.ahead);
    return s.bytes;
}
