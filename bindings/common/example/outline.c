/* A minimal host: a program that prints frozen data of any format as an outline, and writes a
 * small value. docs/language-modules.md explains it.
 *
 *   outline FILE CLASS...    prints the values if they contain only these classes
 *   outline --write STAGE    writes a value to the standard output
 */
#include "common/ice_keys.h"
#include "common/ice_message.h"
#include "common/ice_pool.h"
#include "common/ice_tape.h"
#include "common/ice_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions that the common files need from a host ------------------- */

void *
ice_host_resize(void *memory, size_t size)
{
    void *bigger = realloc(memory, size);
    if (!bigger)
        ice_host_fail("not enough memory");
    return bigger;
}

void
ice_host_free(void *memory)
{
    free(memory);
}

void
ice_host_fail(const char *message)
{
    fprintf(stderr, "outline: %s\n", message);
    exit(2);
}

/* ---- the context of a call: the engine's, and the module's own data ------ */

typedef struct {
    ice_pooled_context pooled;
    uint32_t *ends; /* a stack: for each open container the index of the node after it */
    uint32_t depth, capacity;
} context;

static ice_pool contexts;

static context *
acquire_context(void)
{
    return (context *)ice_pool_acquire(&contexts, sizeof(context));
}

static void
release_context(context *ctx)
{
    ctx->depth = 0;
    if (!ice_pool_release(&contexts, &ctx->pooled)) {
        ice_host_free(ctx->ends);
        ice_pooled_context_free(&ctx->pooled);
    }
}

static void
check_error(uint32_t kind, const icecore_error *error)
{
    static const ice_limit_words words[] = { { "depth", "raise it in outline.c" } };
    ice_line line;
    if (kind != ICECORE_OK)
        ice_host_fail(ice_message(error, words, 1, &line));
}

/* ---- reading: the tape to values ---------------------------------------- */

/* Prints text from the data in quotes, with escapes. */
static void
print_text(const char *text, size_t len)
{
    putchar('"');
    for (; len--; text++) {
        if (*text == '"' || *text == '\\' || *text < ' ' || *text > '~')
            printf("\\x%02x", (unsigned char)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

static void
print_node(const icecore_view *view, const icecore_node *node)
{
    const char *text;
    const icecore_name *class = ice_name(&view->classes, ICE_CLASS_OF(node), &text);
    size_t len;
    double number;
    switch (node->kind) {
    case ICECORE_NULL: printf("null\n"); return;
    case ICECORE_BOOL: printf(node->payload ? "true\n" : "false\n"); return;
    case ICECORE_INT: printf("%lld\n", (long long)node->payload); return;
    case ICECORE_FLOAT:
        memcpy(&number, &node->payload, sizeof number);
        printf("%.17g\n", number);
        return;
    case ICECORE_BYTES:
    case ICECORE_TEXT:
    case ICECORE_SYMBOL:
        text = ice_bytes_of(view, node, &len);
        print_text(text, len);
        putchar('\n');
        return;
    case ICECORE_LINK:
    case ICECORE_ALIAS:
    case ICECORE_COPY: printf("the same as node %u\n", (unsigned)node->payload); return;
    case ICECORE_ARRAY: printf("array of %u\n", (unsigned)node->aux); return;
    case ICECORE_MAP: printf("map of %u\n", (unsigned)node->aux); return;
    case ICECORE_OBJECT:
        printf("object of ");
        print_text(class ? text : "", class ? class->node.aux : 0);
        putchar('\n');
        return;
    default: printf("kind %u\n", node->kind);
    }
}

/* Prints all nodes in order. Nodes are in pre-order, so the open containers are those whose end is
 * after the current node. */
static void
print_outline(context *ctx, const icecore_view *view)
{
    const uint32_t end = ice_next(view, view->root);
    uint32_t index, i;
    for (index = view->root; index < end; index++) {
        const icecore_node *node = &view->nodes[index];
        const char *key;
        const icecore_name *name;
        while (ctx->depth && ctx->ends[ctx->depth - 1] <= index)
            ctx->depth--;
        for (i = 0; i < ctx->depth; i++)
            printf("  ");
        if (node->key == ICECORE_IS_KEY)
            printf("key ");
        else if (node->key != ICECORE_KEY_PRECEDES && (name = ice_name(&view->keys, node->key, &key))) {
            print_text(key, name->node.aux);
            printf(": ");
        }
        print_node(view, node);
        if (node->kind < ICECORE_ARRAY)
            continue;
        if (ctx->depth == ctx->capacity) {
            ctx->capacity = ctx->capacity ? ctx->capacity * 2 : 64;
            ctx->ends = ice_host_resize(ctx->ends, ctx->capacity * sizeof *ctx->ends);
        }
        ctx->ends[ctx->depth++] = ice_next(view, index);
    }
}

/* ---- policy: classes are refused before anything is built ---------------------------- */

static void
print_refused(const icecore_refused_class *class, void *count)
{
    char shown_name[512];
    icecore_class_words(ICECORE_WORDS_SHOWN, ICECORE_PERL, &class->name, 0, NULL, 0, shown_name,
                        sizeof shown_name);
    printf("refused: the class %s at %.*s\n", shown_name, (int)class->path.len, (const char *)class->path.bytes);
    ++*(int *)count;
}

static int
read_file(const char *path, char **class_names, int count)
{
    context *ctx = acquire_context();
    icecore_rules *rules = icecore_rules_new(0);
    const icecore_rules *layers[1];
    icecore_stage *stage;
    icecore_error error;
    icecore_view view;
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = ice_host_resize(NULL, 1 << 20);
    size_t len = file ? fread(bytes, 1, 1 << 20, file) : 0;
    int i, refused_count = 0;
    if (!file || fclose(file) != 0)
        ice_host_fail("the file can't be read");
    for (i = 0; i < count; i++) {
        const icecore_class_name name = { (const uint8_t *)class_names[i], strlen(class_names[i]), 0 };
        check_error(icecore_rules_allow(rules, &name, 0, &error), &error);
    }
    stage = icecore_detect(bytes, len, &error);
    check_error(stage ? ICECORE_OK : error.kind, &error);
    check_error(icecore_read(ctx->pooled.engine, stage, bytes, len, 0, &view, &error), &error);
    layers[0] = rules;
    check_error(icecore_refused(ctx->pooled.engine, view.input, view.input_len, layers, 1, 0, ICECORE_USE_OBJECT,
                                print_refused, &refused_count, &error), &error);
    if (!refused_count)
        print_outline(ctx, &view);
    release_context(ctx);
    icecore_stage_free(stage);
    icecore_rules_free(rules);
    ice_host_free(bytes);
    return refused_count ? 3 : 0;
}

/* ---- writing: values to the tape ---------------------------------------- */

static int
write_value(const char *spec)
{
    context *ctx = acquire_context();
    icecore_context *engine = ctx->pooled.engine;
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    icecore_stage *stage = icecore_stage_new(spec, strlen(spec), &error);
    uint32_t map, list;
    uint16_t key;
    check_error(stage ? ICECORE_OK : error.kind, &error);
    ice_tape_begin(engine, &tape);
    map = ice_push(engine, &tape, ICECORE_MAP, 0, 0, 0, 0);
    key = icecore_key(engine, ICECORE_TEXT, 0, (const uint8_t *)"name", 4);
    ice_push_string(engine, &tape, ICECORE_TEXT, 0, key, "Alice", 5);
    key = icecore_key(engine, ICECORE_TEXT, 0, (const uint8_t *)"list", 4);
    list = ice_push(engine, &tape, ICECORE_ARRAY, ICECORE_FLAG_REF, key, 0, 0);
    ice_push(engine, &tape, ICECORE_INT, 0, 0, 0, 42);
    ice_push(engine, &tape, ICECORE_NULL, 0, 0, 0, 0);
    ice_end_node(&tape, list, 2, 0);
    ice_end_node(&tape, map, 2, 0);
    ice_tape_finish(engine, &tape);
    check_error(icecore_write(engine, stage, &tape, &out, NULL, &error), &error);
    fwrite(out.bytes, 1, out.len, stdout);
    release_context(ctx);
    icecore_stage_free(stage);
    return 0;
}

int
main(int argc, char **argv)
{
    context *ctx;
    int code;
    if (argc < 2 || icecore_tape_version() != ICECORE_TAPE_VERSION)
        ice_host_fail("a file, or --write and a stage; and a library of the same version");
    code = argc == 3 && strcmp(argv[1], "--write") == 0 ? write_value(argv[2])
                                                        : read_file(argv[1], argv + 2, argc - 2);
    while ((ctx = (context *)ice_pool_pop(&contexts))) {
        ice_host_free(ctx->ends);
        ice_pooled_context_free(&ctx->pooled);
    }
    return code;
}
