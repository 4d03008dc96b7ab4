/* The C interface of Icecore. Written by cbindgen from crates/icecore-capi/src;
 * not to be edited. docs/c.md has examples. */

#ifndef ICECORE_H
#define ICECORE_H

#include <stddef.h>
#include <stdint.h>

/*
 No error.
 */
#define ICECORE_OK 0

/*
 A defect in the library: please report it.
 */
#define ICECORE_PANIC 255

/*
 Bit of `flags`: the value was reached through a reference of its own.
 */
#define ICECORE_FLAG_REF 1

/*
 The reference to this value is weak.
 */
#define ICECORE_FLAG_WEAK 2

/*
 The reference to this value is marked as overloaded.
 */
#define ICECORE_FLAG_OVERLOAD 4

/*
 A link, an alias or a copy may name this node.
 */
#define ICECORE_FLAG_TARGET 8

/*
 A big integer: negative.
 */
#define ICECORE_FLAG_NEGATIVE 16

/*
 A map: its keys are locked (Perl's restricted hash).
 */
#define ICECORE_FLAG_RESTRICTED 16

/*
 A map: keys are compared by identity (Ruby).
 */
#define ICECORE_FLAG_IDENTITY 32

/*
 A map: one more child follows the entries, the default value (Ruby).
 */
#define ICECORE_FLAG_DEFAULT 64

/*
 A regexp: not blessed.
 */
#define ICECORE_FLAG_BARE 16

/*
 A regexp of a running program: its pattern has the syntax of Perl.
 */
#define ICECORE_FLAG_PERL 32

/*
 A null or a boolean: perl's immortal value, not a variable.
 */
#define ICECORE_FLAG_OWN 16

/*
 A null with `ICECORE_FLAG_OWN`: it is an item of an array.
 */
#define ICECORE_FLAG_ITEM 32

/*
 A boolean of a running program: a variable that contains it.
 */
#define ICECORE_FLAG_VARIABLE 32

/*
 A property in addition to the value that affects the original writer; docs/tape.md explains it for each kind.
 */
#define ICECORE_FLAG_HINT 128

/*
 A key: its value is read-only.
 */
#define ICECORE_FLAG_LOCKED 16

/*
 A key: allowed in a restricted hash, but absent; its value is a hole.
 */
#define ICECORE_FLAG_PLACEHOLDER 32

/*
 A key whose bytes are ASCII: it was given as UTF-8 text.
 */
#define ICECORE_FLAG_WAS_TEXT 64

/*
 `key` of a value that has no key.
 */
#define ICECORE_NO_KEY 0

/*
 `key` of a node that is itself a key.
 */
#define ICECORE_IS_KEY 65534

/*
 `key` of a value whose key is the node before it.
 */
#define ICECORE_KEY_PRECEDES 65535

/*
 Maximum number of entries of a map whose keys have ids. In larger maps, each key is a node.
 */
#define ICECORE_MAX_ENTRIES_WITH_IDS 256

/*
 Bit of the payload of a string: the string is in the arena.
 */
#define ICECORE_IN_ARENA 9223372036854775808ull

/*
 Bits of the payload of a string: its offset.
 */
#define ICECORE_OFFSET 281474976710655

/*
 Position in the payload of a container of the id of its class: 16 bits.
 */
#define ICECORE_CLASS_SHIFT 32

/*
 Position in the payload of the form: 8 bits.
 */
#define ICECORE_FORM_SHIFT 48

/*
 `aux` of a string whose location is in the table of long strings.
 */
#define ICECORE_LONG 4294967295

/*
 Names are compared as in PHP: ASCII letters without regard to case, and one leading `\` is ignored.
 */
#define ICECORE_NAMES_PHP 1

/*
 Flag of an answer: the host reports the class, once.
 */
#define ICECORE_REPORTED 16

/*
 Keys of arrays and names of properties are changed as well.
 */
#define ICECORE_REPLACE_KEYS 1

/*
 Names of classes are changed as well.
 */
#define ICECORE_REPLACE_CLASSES 2

/*
 The content of Base64 and compressed data is changed as well.
 */
#define ICECORE_REPLACE_BASE64 4

/*
 Data with wrong lengths is repaired, and then changed.
 */
#define ICECORE_REPLACE_MEND 8

/*
 The searched texts are regular expressions; `$1` and `${name}` in replacements are groups, `$$` is a dollar.
 */
#define ICECORE_REPLACE_REGEX 16

/*
 `A` and `a` are equal.
 */
#define ICECORE_REPLACE_IGNORE_CASE 32

/*
 Pairs are URLs, `https://old` and `https://new`: their spellings in JSON, in other URLs and without a scheme are
 searched as well.
 */
#define ICECORE_REPLACE_URL 64

/*
 The version of the layout of nodes and views. A program that was built with another header must not use the library:
 it compares this number with `icecore_tape_version()`.
 */
#define ICECORE_TAPE_VERSION 3

/*
 No such node.
 */
#define ICECORE_NONE UINT32_MAX

/*
 Flag of `icecore_read`: bytes after the document are not an error.
 */
#define ICECORE_EACH 1

/*
 Flag of `icecore_read`: values that exist only in other languages become what Perl programs use instead.
 */
#define ICECORE_FOR_PERL 2

/*
 Flag of `icecore_read`: ASCII text becomes byte strings.
 */
#define ICECORE_ASCII_BYTES 4

/*
 Flag of `icecore_read`: after an error, the view contains what was read before it, with all containers closed.
 */
#define ICECORE_PARTIAL 8

/*
 The kinds of errors.
 */
enum icecore_error_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   The input ends before the document does.
   */
  ICECORE_TRUNCATED = 1,
  /*
   The document ends before the input does.
   */
  ICECORE_TRAILING = 2,
  /*
   The bytes break the rules of the format.
   */
  ICECORE_MALFORMED = 3,
  /*
   A link names something that does not exist, or is not allowed as its target.
   */
  ICECORE_BAD_LINK = 4,
  /*
   The format allows this, but this library can't read or write it.
   */
  ICECORE_UNSUPPORTED = 5,
  /*
   A limit was reached.
   */
  ICECORE_LIMIT = 6,
  /*
   The format is not known, or the input is not in it.
   */
  ICECORE_FORMAT = 7,
  /*
   An option or an argument is wrong.
   */
  ICECORE_USAGE = 8,
  /*
   The document can't be represented in the target format.
   */
  ICECORE_UNREPRESENTABLE = 9,
  /*
   The receiver of the output stopped.
   */
  ICECORE_OUTPUT = 10,
  /*
   Any other error.
   */
  ICECORE_OTHER = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum icecore_error_kind icecore_error_kind;
#else
typedef uint32_t icecore_error_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 Details for hosts that report errors with their own message.
 */
enum icecore_error_detail
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   Values are nested deeper than the limit.
   */
  ICECORE_DETAIL_DEPTH = 1,
  /*
   An integer is beyond 64 bits; an option of the format clamps it.
   */
  ICECORE_DETAIL_WIDE_INTEGER = 2,
  /*
   The number of entries is beyond 64 bits.
   */
  ICECORE_DETAIL_WIDE_COUNT = 3,
  /*
   The input ends before the number of entries.
   */
  ICECORE_DETAIL_NO_COUNT = 4,
  /*
   A key was expected.
   */
  ICECORE_DETAIL_NO_KEY = 5,
  /*
   A value was expected.
   */
  ICECORE_DETAIL_NO_VALUE = 6,
  /*
   The name of an enum case is unknown.
   */
  ICECORE_DETAIL_NO_CASE = 7,
  /*
   A payload that a class wrote itself is shorter than its declared length, or that length is negative.
   */
  ICECORE_DETAIL_SHORT_PAYLOAD = 8,
  /*
   A link counts values inside a payload that only its class understands.
   */
  ICECORE_DETAIL_OPAQUE_LINK = 9,
  /*
   There are more values or more output than the limit allows; or memory ran out.
   */
  ICECORE_DETAIL_SIZE = 10,
  /*
   Decompression produces more than the limit allows.
   */
  ICECORE_DETAIL_DECOMPRESSED = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum icecore_error_detail icecore_error_detail;
#else
typedef uint32_t icecore_error_detail;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The `kind` of a node. Kinds from `ICECORE_ARRAY` on have children, which follow them.
 */
enum icecore_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   Perl's undef, PHP's NULL, Ruby's nil.
   */
  ICECORE_NULL = 0,
  /*
   `payload` is 0 or 1.
   */
  ICECORE_BOOL = 1,
  /*
   `payload` is an `int64_t`.
   */
  ICECORE_INT = 2,
  /*
   `payload` is a `uint64_t` above the largest `int64_t`.
   */
  ICECORE_UINT = 3,
  /*
   An integer beyond 64 bits: bytes, least significant first.
   */
  ICECORE_BIGINT = 4,
  /*
   `payload` is the bits of a `double`.
   */
  ICECORE_FLOAT = 5,
  /*
   `payload` is the bits of a `float`.
   */
  ICECORE_FLOAT32 = 6,
  /*
   16 bytes: an IEEE 754 binary128, least significant first.
   */
  ICECORE_FLOAT128 = 7,
  /*
   A byte string.
   */
  ICECORE_BYTES = 8,
  /*
   A string marked as UTF-8.
   */
  ICECORE_TEXT = 9,
  /*
   A byte string with a named encoding.
   */
  ICECORE_ENCODED = 10,
  /*
   A Ruby symbol.
   */
  ICECORE_SYMBOL = 11,
  /*
   The name of a class or a module, as a value.
   */
  ICECORE_MODULE = 12,
  /*
   A PHP enum case.
   */
  ICECORE_ENUM_CASE = 13,
  /*
   An array element that does not exist, or the value of a placeholder.
   */
  ICECORE_HOLE = 14,
  /*
   The same object again: `payload` is the index of its node.
   */
  ICECORE_LINK = 15,
  /*
   The same variable again: `payload` is the index of the node that it contains.
   */
  ICECORE_ALIAS = 16,
  /*
   An equal value again, which is not shared: `payload` is the index of the node
   that it equals.
   */
  ICECORE_COPY = 17,
  /*
   `aux` is the number of items.
   */
  ICECORE_ARRAY = 32,
  /*
   `aux` is the number of entries.
   */
  ICECORE_MAP = 33,
  /*
   A reference to a scalar variable: one child.
   */
  ICECORE_REF = 34,
  /*
   An object: a class and one child, its body.
   */
  ICECORE_OBJECT = 35,
  /*
   An object that its class froze: a payload, then the objects that it refers to.
   */
  ICECORE_OPAQUE = 36,
  /*
   Attributes on a value: the value, then entries.
   */
  ICECORE_ATTRS = 37,
  /*
   Two children: pattern and flags.
   */
  ICECORE_REGEXP = 38,
  /*
   Source text of code: one child.
   */
  ICECORE_CODE = 39,
  /*
   A v-string: its source text and its value.
   */
  ICECORE_VSTRING = 40,
  /*
   A tied variable: the object that it is tied to and, for an element, its key.
   */
  ICECORE_TIED = 41,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum icecore_kind icecore_kind;
#else
typedef uint8_t icecore_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The form in which an object, opaque object or tied variable was written: eight bits of `payload`, from
 `ICECORE_FORM_SHIFT` on.
 */
enum icecore_form
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   The usual one.
   */
  ICECORE_FORM_USUAL = 0,
  /*
   Ruby's Struct and Data.
   */
  ICECORE_FORM_STRUCT = 1,
  /*
   Storable's hook record.
   */
  ICECORE_FORM_HOOK = 2,
  /*
   Sereal's OBJECT_FREEZE.
   */
  ICECORE_FORM_FREEZE = 3,
  /*
   PHP's `C:`.
   */
  ICECORE_FORM_SERIALIZABLE = 4,
  /*
   Ruby's `_dump`.
   */
  ICECORE_FORM_USER_DUMP = 5,
  /*
   Ruby's `marshal_dump`.
   */
  ICECORE_FORM_USER_MARSHAL = 6,
  /*
   Ruby's data.
   */
  ICECORE_FORM_DATA = 7,
  /*
   A tied scalar.
   */
  ICECORE_FORM_TIED_SCALAR = 8,
  /*
   A tied array.
   */
  ICECORE_FORM_TIED_ARRAY = 9,
  /*
   A tied hash.
   */
  ICECORE_FORM_TIED_HASH = 10,
  /*
   An element of a tied array or hash.
   */
  ICECORE_FORM_TIED_ELEMENT = 11,
  /*
   A module, or one mixed into a value.
   */
  ICECORE_FORM_MODULE = 12,
  /*
   A class or module name in Ruby's old form.
   */
  ICECORE_FORM_OLD_MODULE = 13,
  /*
   An instance of a user's subclass of a core class.
   */
  ICECORE_FORM_SUBCLASS = 14,
  /*
   The variable itself is blessed.
   */
  ICECORE_FORM_VARIABLE = 15,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum icecore_form icecore_form;
#else
typedef uint8_t icecore_form;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The language whose terms a message uses.
 */
enum icecore_host
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   Perl.
   */
  ICECORE_PERL = 0,
  /*
   PHP.
   */
  ICECORE_PHP = 1,
  /*
   Ruby.
   */
  ICECORE_RUBY = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum icecore_host icecore_host;
#else
typedef uint32_t icecore_host;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The rule for the classes that are in no list.
 */
enum icecore_otherwise
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   The next layer decides.
   */
  ICECORE_ASK_ON = 0,
  /*
   All classes may be built.
   */
  ICECORE_ANY = 1,
  /*
   All classes may be built, and each is reported.
   */
  ICECORE_ANY_REPORTED = 2,
  /*
   A neutral record is built instead of an object.
   */
  ICECORE_RECORD = 3,
  /*
   Nothing is built, and each class is reported with the rule that would allow it.
   */
  ICECORE_REPORT = 4,
  /*
   Nothing is built, and later layers are not consulted.
   */
  ICECORE_REFUSE = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum icecore_otherwise icecore_otherwise;
#else
typedef uint32_t icecore_otherwise;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The kinds of use of a class in a document: bits.
 */
enum icecore_use
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   An object of it, in any form.
   */
  ICECORE_USE_OBJECT = 1,
  /*
   An enum case.
   */
  ICECORE_USE_ENUM = 2,
  /*
   A module mixed into a value.
   */
  ICECORE_USE_MODULE = 4,
  /*
   The class or the module itself, as a value.
   */
  ICECORE_USE_NAME = 8,
  /*
   A regular expression.
   */
  ICECORE_USE_REGEXP = 16,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum icecore_use icecore_use;
#else
typedef uint32_t icecore_use;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The decision about a class.
 */
enum icecore_verdict
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   The document is refused.
   */
  ICECORE_REFUSED = 0,
  /*
   Its objects may be built.
   */
  ICECORE_ALLOWED = 1,
  /*
   A neutral record is built instead of an object.
   */
  ICECORE_AS_RECORD = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum icecore_verdict icecore_verdict;
#else
typedef uint32_t icecore_verdict;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 A message about a class.
 */
enum icecore_words
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   Its name as a literal of the host.
   */
  ICECORE_WORDS_LITERAL = 0,
  /*
   Its name, as a literal if it has characters that a class name can't have.
   */
  ICECORE_WORDS_SHOWN = 1,
  /*
   A suggestion that allows it.
   */
  ICECORE_WORDS_REMEDY = 2,
  /*
   The message that it is refused at a path, with the suggestion.
   */
  ICECORE_WORDS_REFUSED = 3,
  /*
   The message that it was built, with the suggestion.
   */
  ICECORE_WORDS_BUILT = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum icecore_words icecore_words;
#else
typedef uint32_t icecore_words;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 A parsed map from old to new class names.
 */
typedef struct icecore_class_map icecore_class_map;

/*
 Data that is kept between calls: memory, and the names of keys and classes.

 A context serves one call at a time. A host that may be called again during a call
 (by a hook, for example) needs several.
 */
typedef struct icecore_context icecore_context;

/*
 Prepared pairs with flags, a format and limits. A host keeps one handle, and prepares it before each document;
 unchanged settings are not prepared again.
 */
typedef struct icecore_replacer icecore_replacer;

/*
 A layer of rules that the engine stores: names, patterns, and the rule for all other classes.
 */
typedef struct icecore_rules icecore_rules;

/*
 A format with its options, and the limits for reading and writing it.
 */
typedef struct icecore_stage icecore_stage;

/*
 An error. The caller owns it; there is nothing to free.
 */
typedef struct icecore_error {
  /*
   Kind: one of `icecore_error_kind`, 0 for no error.
   */
  uint32_t kind;
  /*
   Detail: one of `icecore_error_detail`, or 0.
   */
  uint32_t detail;
  /*
   Offset in the input, in bytes; -1 if not applicable.
   */
  int64_t offset;
  /*
   Path in the document, such as `$.staff[3].name`; empty if unknown. Truncated if it is longer. Ends with 0.
   */
  char path[512];
  /*
   The complete message, with offset and path. Truncated if it is longer. Ends with 0.
   */
  char message[1016];
  /*
   The offset at which the original reader of the format reports the error; -1 if unknown.
   */
  int64_t original_offset;
} icecore_error;

/*
 Bytes that the library lends.
 */
typedef struct icecore_bytes {
  /*
   The bytes.
   */
  const uint8_t *bytes;
  /*
   Number of bytes.
   */
  size_t len;
} icecore_bytes;

/*
 A class that a document names. Lent for the duration of the visit.
 */
typedef struct icecore_class_use {
  /*
   Name of the class.
   */
  struct icecore_bytes name;
  /*
   Kind of use: `object`, `hook`, `freeze`, `regexp`, …
   */
  struct icecore_bytes kind;
  /*
   The path of the first use.
   */
  struct icecore_bytes path;
  /*
   Number of uses.
   */
  uint64_t count;
} icecore_class_use;

/*
 A node of the tape: docs/tape.md explains it.
 */
typedef struct icecore_node {
  /*
   Kind of value: `ICECORE_NULL` and so on.
   */
  uint8_t kind;
  /*
   Bits, whose meaning depends on the kind.
   */
  uint8_t flags;
  /*
   Id of its key.
   */
  uint16_t key;
  /*
   A length or a count.
   */
  uint32_t aux;
  /*
   A value, the offset of a string or the end of a container.
   */
  uint64_t payload;
} icecore_node;

/*
 The name of a key or a class.
 */
typedef struct icecore_name {
  /*
   Its first 16 bytes, zero-padded.
   */
  uint64_t head[2];
  /*
   Kind and flags; `aux` is its length, `payload` (without the top bit) its offset
   in the bytes of its table.
   */
  struct icecore_node node;
} icecore_name;

/*
 A table of names. The name with the id `n` is `names[n - 1]`.
 */
typedef struct icecore_names {
  /*
   The names.
   */
  const struct icecore_name *names;
  /*
   Number of names.
   */
  size_t count;
  /*
   The bytes that their offsets refer to.
   */
  const uint8_t *bytes;
  /*
   Ids keep their meaning between calls with the same context until this number changes.
   */
  uint32_t generation;
} icecore_names;

/*
 A string that is too long for a node: the payload of its node is its index.
 */
typedef struct icecore_long {
  /*
   Offset of the string.
   */
  uint64_t offset;
  /*
   Length of the string in bytes.
   */
  uint64_t len;
  /*
   1 if the offset refers to the arena, 0 if it refers to the input.
   */
  uint32_t in_arena;
} icecore_long;

/*
 A document that was read.
 */
typedef struct icecore_view {
  /*
   The nodes, in pre-order.
   */
  const struct icecore_node *nodes;
  /*
   Number of nodes.
   */
  size_t node_count;
  /*
   The index of the root.
   */
  uint32_t root;
  /*
   The index of the user header (Sereal); `ICECORE_NONE` if there is none.
   */
  uint32_t header;
  /*
   The bytes that strings are borrowed from: the input, or decompressed data.
   */
  const uint8_t *input;
  /*
   Number of these bytes.
   */
  size_t input_len;
  /*
   The bytes of all other strings.
   */
  const uint8_t *arena;
  /*
   Number of these bytes.
   */
  size_t arena_len;
  /*
   The keys.
   */
  struct icecore_names keys;
  /*
   The classes.
   */
  struct icecore_names classes;
  /*
   The encodings (Ruby).
   */
  struct icecore_names encodings;
  /*
   Strings of 4 GB and more.
   */
  const struct icecore_long *long_strings;
  /*
   Number of long strings.
   */
  size_t long_count;
  /*
   Number of bytes of the input that belong to the document.
   */
  size_t consumed;
  /*
   1 if the document has only arrays, maps, strings and numbers, no node is the target of a link, and every key
   has an id and no flags; 0 if that is unknown.
   */
  uint32_t is_simple;
} icecore_view;

/*
 Bytes that the library allocated, to be freed with `icecore_buffer_free`.
 */
typedef struct icecore_buffer {
  /*
   The bytes.
   */
  uint8_t *bytes;
  /*
   Number of bytes.
   */
  size_t len;
  /*
   Number of allocated bytes.
   */
  size_t capacity;
} icecore_buffer;

/*
 A tape that is being filled. Its memory belongs to the context.

 The caller writes nodes at `nodes[node_count]` and strings at `arena + arena_len`, and increments both counts. If
 there is not enough space, it first calls `icecore_grow_nodes` or `icecore_grow_arena`.
 */
typedef struct icecore_tape {
  /*
   The nodes.
   */
  struct icecore_node *nodes;
  /*
   Number of filled nodes.
   */
  size_t node_count;
  /*
   Number of nodes that fit.
   */
  size_t node_capacity;
  /*
   The bytes of strings.
   */
  uint8_t *arena;
  /*
   Number of filled bytes.
   */
  size_t arena_len;
  /*
   Number of bytes that fit.
   */
  size_t arena_capacity;
  /*
   The index of the root.
   */
  uint32_t root;
  /*
   The index of the user header, or `ICECORE_NONE`.
   */
  uint32_t header;
  /*
   The generation of the ids of keys.
   */
  uint32_t key_generation;
  /*
   The generation of the ids of classes.
   */
  uint32_t class_generation;
  /*
   1 if names of classes and members are those of the language for which the document is written, so they stay
   unchanged; 0, the initial value, if they may be names of another language.
   */
  uint32_t has_own_names;
} icecore_tape;

/*
 Options for writing JSON.
 */
typedef struct icecore_json_style {
  /*
   Characters that are written unescaped: all, as UTF-8 (0); those below 256, as one byte each (1); ASCII (2);
   ASCII, and the bytes of all others are escaped as `\xe9` (3).
   */
  uint8_t beyond;
  /*
   Form of infinity and "not a number": bare (0), null (1), in quotes (2), in quotes and without a sign (3).
   */
  uint8_t inf_nan;
  /*
   1 if each value is on a line of its own.
   */
  uint8_t has_lines;
  /*
   Number of blanks of indentation for each level.
   */
  uint8_t indent;
  /*
   1 if there is a blank before the colon.
   */
  uint8_t space_before;
  /*
   1 if there is a blank after the colon.
   */
  uint8_t space_after;
  /*
   1 if `/` is written as `\/`.
   */
  uint8_t escape_slash;
  /*
   1 if integral floats get a `.0`.
   */
  uint8_t point_zero;
  /*
   1 if every number is written in quotes.
   */
  uint8_t all_strings;
} icecore_json_style;

/*
 The name of a class, or a pattern for such names, in which `*` matches any characters. Lent for the duration of the
 call; the name of a question until it is answered.
 */
typedef struct icecore_class_name {
  /*
   Its bytes.
   */
  const uint8_t *bytes;
  /*
   Number of bytes.
   */
  size_t len;
  /*
   Whether the bytes are UTF-8.
   */
  uint32_t is_text;
} icecore_class_name;

/*
 A question about a class. The caller owns the struct; there is nothing to free.
 */
typedef struct icecore_question {
  /*
   The class.
   */
  struct icecore_class_name name;
  /*
   `ICECORE_NAMES_PHP` or 0.
   */
  uint32_t flags;
  /*
   The answer of the layers so far: one of `icecore_otherwise`, 0 if there is none.
   */
  uint32_t answer_so_far;
  /*
   1 if no further layer can change the answer.
   */
  uint32_t is_final;
} icecore_question;

/*
 A class that may not be built. Lent for the duration of the visit.
 */
typedef struct icecore_refused_class {
  /*
   Name of the class.
   */
  struct icecore_class_name name;
  /*
   The path of the first place that contains it.
   */
  struct icecore_bytes path;
  /*
   1 if the host reports the class.
   */
  uint32_t is_reported;
} icecore_refused_class;

/*
 A text and its replacement. Lent for the duration of the call.
 */
typedef struct icecore_pair {
  /*
   The searched bytes.
   */
  const uint8_t *from;
  /*
   Number of searched bytes.
   */
  size_t from_len;
  /*
   The replacement.
   */
  const uint8_t *to;
  /*
   Number of bytes of the replacement.
   */
  size_t to_len;
} icecore_pair;

/*
 Results and counts of a replacement.
 */
typedef struct icecore_replaced {
  /*
   1 if the buffer contains the new bytes; 0 if nothing changed, and the buffer is empty.
   */
  uint32_t is_changed;
  /*
   Strings that were changed.
   */
  uint64_t strings;
  /*
   Number of replacements in them.
   */
  uint64_t occurrences;
  /*
   Frozen data that was processed, at all levels.
   */
  uint64_t frozen;
  /*
   Texts that look frozen and can't be read: they were changed as plain text.
   */
  uint64_t broken;
  /*
   Texts with wrong lengths that were repaired.
   */
  uint64_t mended;
  /*
   Number of these that are guesses: no known kind of damage explains all of their lengths.
   */
  uint64_t guessed;
  /*
   Payloads that only their own class understands and that contain a searched text: they stayed unchanged.
   */
  uint64_t opaque;
  /*
   Changes that can't be represented at their place, such as bytes that are not UTF-8 in JSON: the strings stayed
   unchanged.
   */
  uint64_t unsayable;
  /*
   Signed or encrypted data that contains a searched text: it stayed unchanged.
   */
  uint64_t signed_values;
  /*
   The first broken text: its format, where it breaks off and why; empty if there is none. Truncated if it is
   longer. Ends with 0.
   */
  char first_broken[256];
  /*
   The causes of repaired damage with their counts, sorted by name: `latin1=2,line-ends=1`. The last ones are left
   out if the text is too long. Ends with 0.
   */
  char explanations[256];
} icecore_replaced;

/*
 Data from the first bytes of a Sereal document.
 */
typedef struct icecore_sereal_header {
  /*
   The protocol, 1 to 15; 0 if the document was later encoded as UTF-8; -1 if it is not a Sereal document.
   */
  int32_t protocol;
  /*
   Offset of the first byte of the user header; 0 if there is none.
   */
  size_t user_header;
  /*
   Offset of the first byte after the user header, where the body starts; 0 if there is no user header.
   */
  size_t body;
} icecore_sereal_header;

/*
 A loss: something that a format could not express.
 */
typedef struct icecore_loss_part {
  /*
   Name of the kind, such as `class` or `symbol`.
   */
  struct icecore_bytes kind;
  /*
   The path of the first loss of this kind; empty if no paths are kept.
   */
  struct icecore_bytes path;
  /*
   The description that `icecore_loss` returns.
   */
  struct icecore_bytes text;
  /*
   Number of losses of this kind.
   */
  uint64_t count;
} icecore_loss_part;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the version of the library, such as `0.1.0`.
 */
const char *icecore_version(void);

/*
 Parses a map of classes: lines of `OLD=NEW`, in which `*` matches any characters, as in the option `class-map`. Free
 it with `icecore_class_map_free`. Returns null on an error.

 # Safety
 `text` points to `len` bytes; `error` is null or points to a struct.
 */
struct icecore_class_map *icecore_class_map_new(const char *text,
                                                size_t len,
                                                struct icecore_error *error);

/*
 Looks up the new name of a class. Copies at most `capacity` bytes of it to `new_name`, and returns its full length in
 bytes; 0 if the map does not rename the class.

 # Safety
 `map` is null or a map; `name` points to `len` bytes; `new_name` is null or points to
 `capacity` bytes.
 */
size_t icecore_class_map_name(const struct icecore_class_map *map,
                              const char *name,
                              size_t len,
                              char *new_name,
                              size_t capacity);

/*
 Frees a map. Null is ignored.

 # Safety
 `map` is null or a map; the caller does not use it again.
 */
void icecore_class_map_free(struct icecore_class_map *map);

/*
 Calls `visit` for each class that the document names.

 # Safety
 `stage` is null or a stage; `bytes` points to `len` bytes; `visit` is null, or a function
 that does not unwind or jump out; `error` is null or points to a struct.
 */
uint32_t icecore_classes(const struct icecore_stage *stage,
                         const uint8_t *bytes,
                         size_t len,
                         void (*visit)(const struct icecore_class_use*, void*),
                         void *data,
                         struct icecore_error *error);

/*
 Creates a context, which must be freed with `icecore_context_free`.
 */
struct icecore_context *icecore_context_new(void);

/*
 Frees a context and everything lent from it, or does nothing with null.

 # Safety
 `context` is null or a context; the caller does not use it, or what was lent from
 it, again.
 */
void icecore_context_free(struct icecore_context *context);

/*
 Frees the memory of a large document beyond what a context keeps. Views and results that were lent before become
 invalid. The call is cheap if there is nothing to free.

 # Safety
 `context` is null or a context that no other call uses; what
 was lent from it is not used again.
 */
void icecore_context_trim(struct icecore_context *context);

/*
 Like `icecore_context_trim`, with another limit: at most `bytes` of each kind of memory are kept.

 # Safety
 As for `icecore_context_trim`.
 */
void icecore_context_trim_to(struct icecore_context *context, size_t bytes);

/*
 Returns the number of bytes that a context uses: nodes, strings, decompressed and written data.

 # Safety
 `context` is null or a context that no other call uses.
 */
size_t icecore_context_memory(const struct icecore_context *context);

/*
 Reads a document and fills a view of its tape. The view is lent until the context is used again; the input must stay
 valid as long, because strings are borrowed from it.

 # Safety
 `context` is null or a context that no other call uses; `stage` is null or a
 stage; `bytes` points to `len` bytes that stay as they are as long as the view is used;
 `view` and `error` are null or point to structs.
 */
uint32_t icecore_read(struct icecore_context *context,
                      const struct icecore_stage *stage,
                      const uint8_t *bytes,
                      size_t len,
                      uint32_t flags,
                      struct icecore_view *view,
                      struct icecore_error *error);

/*
 Returns the length of the path of a node of the document that was read last, such as `$.staff[3].name`; copies as
 much of it to `path` as fits, ending with 0.

 # Safety
 `context` is null or a context that no other call uses; `input` names the
 `len` bytes that its last view points to; `path` is null or points to `capacity` bytes.
 */
size_t icecore_path(struct icecore_context *context,
                    const uint8_t *input,
                    size_t len,
                    uint32_t node,
                    char *path,
                    size_t capacity);

/*
 Converts a document from one stage to another, like `icecore convert`: for example from `storable` to `json`. If
 `from` is null or empty, the format is detected. If both formats are the same, the original byte forms are kept.

 `out` is written only if the result is ICECORE_OK.

 # Safety
 `bytes` points to `len` bytes; `from` and `to` are null or texts that end with 0; `out`
 and `error` are null or point to structs.
 */
uint32_t icecore_convert(const uint8_t *bytes,
                         size_t len,
                         const char *from,
                         const char *to,
                         struct icecore_buffer *out,
                         struct icecore_error *error);

/*
 Like `icecore_convert`, with about `memory` bytes in addition to the input. Exceeding it is an error with the detail
 `ICECORE_DETAIL_SIZE` or `ICECORE_DETAIL_DECOMPRESSED`. The context keeps the losses, unless it is null:
 `loss_count` gets the number of kinds, and `icecore_loss_parts` describes each.

 # Safety
 As for `icecore_convert`; `context` is null or a context that no other call uses, and `loss_count` is null or
 points to a number.
 */
uint32_t icecore_convert_within(struct icecore_context *context,
                                const uint8_t *bytes,
                                size_t len,
                                const char *from,
                                const char *to,
                                uint64_t memory,
                                struct icecore_buffer *out,
                                size_t *loss_count,
                                struct icecore_error *error);

/*
 Converts a document from one stage to another, within the limits of each. Original byte forms are not kept.

 `out` is written only if the result is ICECORE_OK.

 # Safety
 `from` and `to` are null or stages; `bytes` points to `len` bytes; `out` and `error` are
 null or point to structs.
 */
uint32_t icecore_convert_stages(const struct icecore_stage *from,
                                const uint8_t *bytes,
                                size_t len,
                                const struct icecore_stage *to,
                                struct icecore_buffer *out,
                                struct icecore_error *error);

/*
 Like `icecore_convert_stages`. The context keeps the losses: `loss_count` gets the number of kinds, and
 `icecore_loss_parts` describes each.

 `out` and `loss_count` are written only if the result is ICECORE_OK.

 # Safety
 As for `icecore_convert_stages`; `context` is null or a context that no other call uses, and `loss_count` is
 null or points to a number.
 */
uint32_t icecore_convert_with_losses(struct icecore_context *context,
                                     const struct icecore_stage *from,
                                     const uint8_t *bytes,
                                     size_t len,
                                     const struct icecore_stage *to,
                                     struct icecore_buffer *out,
                                     size_t *loss_count,
                                     struct icecore_error *error);

/*
 Frees the bytes of a buffer, and empties it.

 # Safety
 `buffer` is null, or points to a struct that a function of this library filled or that is
 all zeros; the caller did not change it.
 */
void icecore_buffer_free(struct icecore_buffer *buffer);

/*
 Lends the context's memory for filling. Views, results and tapes that were lent before become invalid.

 # Safety
 `context` is null or a context that no other call uses; `tape` is null or
 points to a struct.
 */
uint32_t icecore_begin(struct icecore_context *context,
                       struct icecore_tape *tape);

/*
 Reserves space for `more` nodes.

 # Safety
 `context` is null or a context that no other call uses; `tape` is null or
 was lent from it by `icecore_begin`, and its first `node_count` nodes and first
 `arena_len` bytes were filled.
 */
uint32_t icecore_grow_nodes(struct icecore_context *context,
                            struct icecore_tape *tape,
                            size_t more);

/*
 Reserves space for `more` bytes.

 # Safety
 As for `icecore_grow_nodes`.
 */
uint32_t icecore_grow_arena(struct icecore_context *context,
                            struct icecore_tape *tape,
                            size_t more);

/*
 Returns the id of a key with this kind (`ICECORE_BYTES`, `ICECORE_TEXT` or `ICECORE_SYMBOL`), these flags and
 bytes; 0 if the key needs a node of its own before its value.

 # Safety
 `context` is null or a context that no other call uses; `name` points to `len`
 bytes.
 */
uint16_t icecore_key(struct icecore_context *context,
                     uint8_t kind,
                     uint8_t flags,
                     const uint8_t *name,
                     size_t len);

/*
 Returns the id of a class; 0 if there are too many.

 # Safety
 As for `icecore_key`.
 */
uint32_t icecore_class(struct icecore_context *context,
                       uint8_t kind,
                       const uint8_t *name,
                       size_t len);

/*
 Returns the id of a class whose name is in the encoding with this id (from `icecore_encoding`); 0 if there are too
 many.

 # Safety
 As for `icecore_key`.
 */
uint32_t icecore_encoded_class(struct icecore_context *context,
                               uint16_t encoding,
                               const uint8_t *name,
                               size_t len);

/*
 Returns the id of an encoding by its name, for bits 48 to 62 of the payload of a string, a symbol or a key; 0 if
 there are too many.

 # Safety
 As for `icecore_key`.
 */
uint32_t icecore_encoding(struct icecore_context *context,
                          const uint8_t *name,
                          size_t len);

/*
 Writes the node for a string of 4 GB or more whose bytes are at `offset` of the arena that is being filled.

 # Safety
 `context` is null or a context that no other call uses; `node` is null or
 points to a struct.
 */
uint32_t icecore_long_string(struct icecore_context *context,
                             uint8_t kind,
                             uint64_t offset,
                             uint64_t len,
                             struct icecore_node *node);

/*
 Writes the filled tape as JSON. The bytes are lent until the context is used again.

 # Safety
 As for `icecore_write`; `style` is null or points to a struct.
 */
uint32_t icecore_json_write(struct icecore_context *context,
                            const struct icecore_json_style *style,
                            const struct icecore_tape *tape,
                            struct icecore_bytes *out,
                            struct icecore_error *error);

/*
 Reads common JSON of at most `depth` levels, like `icecore_read`. It returns `ICECORE_UNSUPPORTED` for errors and
 for everything uncommon: then `icecore_read` reads the document, or describes the error.

 # Safety
 As for `icecore_read`.
 */
uint32_t icecore_json_read(struct icecore_context *context,
                           const uint8_t *bytes,
                           size_t len,
                           uint32_t depth,
                           uint32_t flags,
                           struct icecore_view *view);

/*
 Returns the meaning of a word in a program's list: `any`, `any,report`, `record` or `report`, as one of
 `icecore_otherwise`; `ICECORE_ASK_ON` means that it is the name of a class.

 # Safety
 `word` points to `len` bytes.
 */
uint32_t icecore_policy_word(const char *word,
                             size_t len);

/*
 Creates rules that allow nothing, which must be freed with `icecore_rules_free`. `flags` is `ICECORE_NAMES_PHP` or
 0.
 */
struct icecore_rules *icecore_rules_new(uint32_t flags);

/*
 Frees rules, or does nothing with null.

 # Safety
 `rules` is null or rules; the caller does not use them again.
 */
void icecore_rules_free(struct icecore_rules *rules);

/*
 Allows a class by its name, or the classes that match a pattern. `exactly` is 1 if `*` is an ordinary character.
 The name is copied.

 # Safety
 `rules` is null or rules that no other call uses; `name` is null or points to a struct
 whose `bytes` points to `len` bytes; `error` is null or points to a struct.
 */
uint32_t icecore_rules_allow(struct icecore_rules *rules,
                             const struct icecore_class_name *name,
                             uint32_t exactly,
                             struct icecore_error *error);

/*
 Sets the rule for all other classes: one of `icecore_otherwise`.

 # Safety
 `rules` is null or rules that no other call uses.
 */
uint32_t icecore_rules_otherwise(struct icecore_rules *rules, uint32_t otherwise);

/*
 Returns the decision about a class by layers of rules: one of `icecore_verdict`, and `ICECORE_REPORTED`. The first
 layer is that of the call; a null layer has no rules. A name in malformed UTF-8 is refused, and is an error.

 # Safety
 `layers` is null or points to `count` pointers, each null or to rules; `name` is null or
 points to a struct whose `bytes` points to `len` bytes; `error` is null or points to a struct.
 */
uint32_t icecore_class_verdict(const struct icecore_rules *const *layers,
                               size_t count,
                               const struct icecore_class_name *name,
                               uint32_t flags,
                               struct icecore_error *error);

/*
 Begins a question about a class. Malformed UTF-8 in its name is an error.

 # Safety
 `question` is null or points to a struct; `name` is null or points to a struct whose `bytes`
 points to `len` bytes that stay as they are until the question is answered; `error` is
 null or points to a struct.
 */
uint32_t icecore_question_begin(struct icecore_question *question,
                                const struct icecore_class_name *name,
                                uint32_t flags,
                                struct icecore_error *error);

/*
 Evaluates a list that the caller stores: these names and patterns. Returns 1 if the answer is final: then the caller
 needs no further lists.

 # Safety
 `question` is null or was begun, and the bytes of its name did not change since;
 `items` is null or points to `count` structs, whose `bytes` point to `len` bytes each.
 */
uint32_t icecore_question_items(struct icecore_question *question,
                                const struct icecore_class_name *items,
                                size_t count);

/*
 Records that a list of the caller contains the class, for a list that the engine can't read, such as a hash or a
 regular expression. Returns 1.

 # Safety
 `question` is null or was begun, and the bytes of its name did not change since.
 */
uint32_t icecore_question_allow(struct icecore_question *question);

/*
 Evaluates a layer that the engine stores. Returns 1 if the answer is final.

 # Safety
 `question` is null or was begun, and the bytes of its name did not change since;
 `rules` is null or rules.
 */
uint32_t icecore_question_rules(struct icecore_question *question,
                                const struct icecore_rules *rules);

/*
 Applies the rule of a layer of the caller for the classes that are not in its lists: one of `icecore_otherwise`.
 Returns 1 if the answer is final.

 # Safety
 `question` is null or was begun, and the bytes of its name did not change since.
 */
uint32_t icecore_question_otherwise(struct icecore_question *question,
                                    uint32_t otherwise);

/*
 Returns the answer: one of `icecore_verdict`, and `ICECORE_REPORTED`. A class that no layer allows is refused.

 # Safety
 `question` is null or was begun, and the bytes of its name did not change since.
 */
uint32_t icecore_question_answer(const struct icecore_question *question);

/*
 Calls `visit` once for each class of the last document that may not be built. A host calls it before it builds the
 first value. `uses` has the kinds of use that count, as bits of `icecore_use`.

 # Safety
 `context` is null or a context that no other call uses; `input` points to the `len`
 bytes that its last view points to; `layers` is null or points to `count` pointers, each null
 or to rules; `visit` is null, or a function that does not unwind, jump out or use the
 context; `error` is null or points to a struct.
 */
uint32_t icecore_refused(struct icecore_context *context,
                         const uint8_t *input,
                         size_t len,
                         const struct icecore_rules *const *layers,
                         size_t count,
                         uint32_t flags,
                         uint32_t uses,
                         void (*visit)(const struct icecore_refused_class*, void*),
                         void *data,
                         struct icecore_error *error);

/*
 Returns the length of a message about a class: `message_kind` is one of `icecore_words`, `host` one of
 `icecore_host`. Copies as much of it to `text` as fits, ending with 0. Everything except the path is ASCII.

 # Safety
 `name` is null or points to a struct whose `bytes` points to `len` bytes; `path` points to
 `path_len` bytes; `text` is null or points to `capacity` bytes.
 */
size_t icecore_class_words(uint32_t message_kind,
                           uint32_t host,
                           const struct icecore_class_name *name,
                           uint32_t flags,
                           const char *path,
                           size_t path_len,
                           char *text,
                           size_t capacity);

/*
 Replaces text in a value, like `icecore replace`: all pairs at once, in every string of frozen data, at any depth,
 with correct lengths and escapes. Every other byte stays the same.

 If `format` is null or empty, the value may be frozen data of any format, or plain text; otherwise a value that
 can't be read in that format is an error. `flags` are bits of `ICECORE_REPLACE_`. If nothing changes, `out` is
 empty, and `is_changed` in `counts` is 0.

 `out` and `counts` are written only if the result is ICECORE_OK.

 # Safety
 `bytes` points to `len` bytes; `format` is null or a text that ends with 0; `pairs` is null or
 points to `count` structs, whose pointers point to as many bytes as their lengths say; `out`,
 `counts` and `error` are null or point to structs.
 */
uint32_t icecore_replace(const uint8_t *bytes,
                         size_t len,
                         const char *format,
                         const struct icecore_pair *pairs,
                         size_t count,
                         uint32_t flags,
                         struct icecore_buffer *out,
                         struct icecore_replaced *counts,
                         struct icecore_error *error);

/*
 Creates a replacer without pairs, which must be freed with `icecore_replacer_free`.
 */
struct icecore_replacer *icecore_replacer_new(void);

/*
 Prepares a replacer for these pairs, this format (empty: it is detected) and these flags, as for `icecore_replace`,
 with the default limits. If the settings are the same as before, nothing is prepared again. After an error it has no
 pairs.

 # Safety
 `replacer` is null or a replacer that no other call uses; `pairs` is null or points to `count`
 structs, whose pointers point to as many bytes as their lengths say; `format` points to
 `format_len` bytes; `error` is null or points to a struct.
 */
uint32_t icecore_replacer_prepare(struct icecore_replacer *replacer,
                                  const struct icecore_pair *pairs,
                                  size_t count,
                                  const char *format,
                                  size_t format_len,
                                  uint32_t flags,
                                  struct icecore_error *error);

/*
 Sets a limit of the following calls, by the names of `icecore_stage_limit`, until the replacer is prepared again.
 `memory` is an additional limit: the maximum number of bytes for replacements and their positions.

 # Safety
 `replacer` is null or a replacer that no other call uses; `name` points to `len` bytes;
 `error` is null or points to a struct.
 */
uint32_t icecore_replacer_limit(struct icecore_replacer *replacer,
                                const char *name,
                                size_t len,
                                uint64_t value,
                                struct icecore_error *error);

/*
 Replaces text in a value, as `icecore_replace` does.

 `out` and `counts` are written only if the result is ICECORE_OK.

 # Safety
 `replacer` is null or a replacer; `bytes` points to `len` bytes; `out`, `counts` and `error`
 are null or point to structs.
 */
uint32_t icecore_replacer_apply(const struct icecore_replacer *replacer,
                                const uint8_t *bytes,
                                size_t len,
                                struct icecore_buffer *out,
                                struct icecore_replaced *counts,
                                struct icecore_error *error);

/*
 Frees a replacer, or does nothing with null.

 # Safety
 `replacer` is null or a replacer; the caller does not use it again.
 */
void icecore_replacer_free(struct icecore_replacer *replacer);

/*
 Examines the first bytes of a Sereal document. Nothing is decoded.

 # Safety
 `bytes` points to `len` bytes.
 */
struct icecore_sereal_header icecore_sereal_find_header(const uint8_t *bytes, size_t len);

/*
 Parses a stage in the syntax of the command: `sereal:compress=zstd,level=3`. Free it with `icecore_stage_free`.
 Returns null on an error.

 # Safety
 `spec` points to `len` bytes; `error` is null or points to a struct.
 */
struct icecore_stage *icecore_stage_new(const char *spec,
                                        size_t len,
                                        struct icecore_error *error);

/*
 Detects the format of a document, and returns a stage for it. Free it with `icecore_stage_free`. Returns null if no
 format matches.

 # Safety
 `bytes` points to `len` bytes; `error` is null or points to a struct.
 */
struct icecore_stage *icecore_detect(const uint8_t *bytes,
                                     size_t len,
                                     struct icecore_error *error);

/*
 Sets a limit of a stage: `depth`, `nodes`, `string`, `decompressed`, `ratio`, `expansion`, `digits`, `output`,
 `growth` or `loss-paths`, each as in `Limits`. A value beyond the limit's type sets the maximum.

 # Safety
 `stage` is null or a stage that no other call uses; `name` points to `len` bytes;
 `error` is null or points to a struct.
 */
uint32_t icecore_stage_limit(struct icecore_stage *stage,
                             const char *name,
                             size_t len,
                             uint64_t value,
                             struct icecore_error *error);

/*
 Limits the memory that a call with this stage may use in addition to the input: for the values of a document, for
 decompressed data, and for output. `UINT64_MAX`, the default, means no limit. Exceeding it is an error with the
 detail `ICECORE_DETAIL_SIZE` or `ICECORE_DETAIL_DECOMPRESSED`. Lower limits stay.

 # Safety
 `stage` is null or a stage that no other call uses.
 */
uint32_t icecore_stage_memory(struct icecore_stage *stage,
                              uint64_t bytes);

/*
 Returns the name of the stage's format, ending with 0; it lives as long as the stage.

 # Safety
 `stage` is null or a stage.
 */
const char *icecore_stage_format(const struct icecore_stage *stage);

/*
 Returns the complete stage in its syntax, with wrappers and options: `gzip/base64/php`. It ends with 0, and lives as
 long as the stage.

 # Safety
 `stage` is null or a stage.
 */
const char *icecore_stage_spec(const struct icecore_stage *stage);

/*
 Frees a stage, or does nothing with null.

 # Safety
 `stage` is null or a stage; the caller does not use it again.
 */
void icecore_stage_free(struct icecore_stage *stage);

/*
 Returns the version of the library's layout.
 */
uint32_t icecore_tape_version(void);

/*
 Writes the filled tape; containers that are not nested are an error. The bytes are lent until the context is used
 again.

 Losses are counted: `losses`, if it is not null, gets the number of kinds, and `icecore_loss` describes each.

 # Safety
 `context` is null or a context that no other call uses; `tape` is null or
 was lent from it by `icecore_begin`, and its first `node_count` nodes and first
 `arena_len` bytes were filled; `stage` is null or a stage; `out`, `losses` and
 `error` are null or point to structs.
 */
uint32_t icecore_write(struct icecore_context *context,
                       const struct icecore_stage *stage,
                       const struct icecore_tape *tape,
                       struct icecore_bytes *out,
                       size_t *losses,
                       struct icecore_error *error);

/*
 Writes the filled nodes as the next part of a document, and empties the tape, so that a large document needs no more
 memory than its bytes. Containers need their count; their end is ignored. `icecore_write` writes the last part.

 Not every format and document can be written in parts: then the call returns
 `ICECORE_UNSUPPORTED`. If that was the first part, the tape is unchanged, and the
 caller continues to fill it; otherwise `icecore_begin` starts again.

 # Safety
 As for `icecore_write`.
 */
uint32_t icecore_write_part(struct icecore_context *context,
                            const struct icecore_stage *stage,
                            struct icecore_tape *tape);

/*
 Takes the output of `icecore_write_part` so far, so that the engine collects no more than a part; `icecore_write`
 then returns only the output after it. The bytes are lent until the context is used again.

 If a format may still change its output, the call returns `ICECORE_UNSUPPORTED`, and `icecore_write` returns all of
 it.

 # Safety
 `context` is null or a context that no other call uses; `out` is null or points to a struct.
 */
uint32_t icecore_take_part(struct icecore_context *context,
                           struct icecore_bytes *out);

/*
 Describes a loss of the last `icecore_write` or `icecore_convert_with_losses`, such as
 `2 class names dropped, first at $[0]`. Lent until the context is used again.

 # Safety
 `context` is null or a context that no other call uses; `out` is null or
 points to a struct.
 */
uint32_t icecore_loss(const struct icecore_context *context,
                      size_t index,
                      struct icecore_bytes *out);

/*
 Like `icecore_loss`, with the kind, the number and the path.

 # Safety
 As for `icecore_loss`.
 */
uint32_t icecore_loss_parts(const struct icecore_context *context,
                            size_t index,
                            struct icecore_loss_part *out);

/*
 Returns the end of a value among several that `icecore_write` wrote as separate texts (`dumper:list`). Returns the
 length of the result if there is no value with this index.

 # Safety
 `context` is null or a context that no other call uses.
 */
size_t icecore_value_end(const struct icecore_context *context,
                         size_t index);

/*
 Returns a view of the filled tape, for callers that copy a value without writing it. Both are lent until the context
 is used again.

 # Safety
 `context` is null or a context that no other call uses; `tape` is null or
 was lent from it by `icecore_begin`; `view` and `error` are null or point to structs.
 */
uint32_t icecore_view_tape(struct icecore_context *context,
                           const struct icecore_tape *tape,
                           struct icecore_view *view,
                           struct icecore_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ICECORE_H */
