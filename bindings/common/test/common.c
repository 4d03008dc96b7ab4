/* Tests of bindings/common. The test is its own host: memory comes from realloc, and
 * ice_host_fail jumps to `fail_target`. */
#include "common/ice_bytes.h"
#include "common/ice_keys.h"
#include "common/ice_map.h"
#include "common/ice_found_classes.h"
#include "common/ice_message.h"
#include "common/ice_pool.h"
#include "common/ice_stack.h"
#include "common/ice_tape.h"
#include "common/ice_view.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static jmp_buf fail_target;
static char fail_message[64];

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
    snprintf(fail_message, sizeof fail_message, "%s", message);
    longjmp(fail_target, 1);
}

static void
check(int condition, const char *text, int line)
{
    if (condition)
        passed++;
    else {
        failed++;
        printf("line %d: %s\n", line, text);
    }
}

#define OK(condition) check(condition, #condition, __LINE__)

static void
test_bytes(void)
{
    char from[64], to[64];
    size_t len, i;
    int all_equal = 1;
    for (i = 0; i < sizeof from; i++)
        from[i] = (char)(i * 7 + 1);
    for (len = 0; len <= 40; len++) {
        memset(to, 0, sizeof to);
        ice_copy(to + 3, from, len);
        all_equal &= memcmp(to + 3, from, len) == 0 && to[3 + len] == 0 && to[2] == 0;
    }
    OK(all_equal);
}

/* Returns 1 if growing fails with the right message. */
static int
fails_to_grow(uint64_t *items, uint32_t *capacity)
{
    fail_message[0] = 0;
    if (setjmp(fail_target) == 0)
        ice_stack_grow(items, capacity, sizeof *items, 3);
    return strcmp(fail_message, "too many values") == 0;
}

static void
test_stack(void)
{
    uint32_t capacity = 0, i;
    uint64_t *items = NULL, sum = 0;
    for (i = 0; i < 100; i++) {
        if (i == capacity)
            items = ice_stack_grow(items, &capacity, sizeof *items, 3);
        items[i] = i;
    }
    for (i = 0; i < 100; i++)
        sum += items[i];
    OK(capacity == 192 && sum == 4950);
    /* Growing beyond the maximum count fails and changes nothing. */
    capacity = UINT32_C(1) << 31;
    OK(fails_to_grow(items, &capacity) && capacity == UINT32_C(1) << 31 && items[99] == 99);
    ice_host_free(items);
}

static void
test_map(void)
{
    enum { MANY = 100000 };
    static char objects[MANY];
    ice_map seen = { 0 };
    ice_slot *slot;
    uint32_t i;
    int all_found = 1;
    OK(ice_map_find(&seen, objects) == NULL);
    for (i = 0; i < MANY; i++)
        ice_map_add(&seen, objects + i, i);
    OK(seen.count == MANY);
    for (i = 0; i < MANY; i++)
        all_found &= (slot = ice_map_find(&seen, objects + i)) && slot->value == i && slot->object == ICECORE_NONE;
    OK(all_found);
    OK(ice_map_add(&seen, objects, 7)->value == 7 && seen.count == MANY);
    OK(ice_map_find(&seen, &seen) == NULL);
    ice_map_clear(&seen);
    OK(ice_map_find(&seen, objects) == NULL && seen.slots == NULL);
    ice_map_add(&seen, objects, 1);
    ice_map_clear(&seen);
    OK(seen.slots != NULL && ice_map_find(&seen, objects) == NULL);
    ice_map_free(&seen);
}

/* Writes an array of integers and a string. Each needs more than the memory of a new tape, so the
 * tape must grow. */
static void
test_tape(void)
{
    icecore_context *engine = icecore_context_new();
    icecore_error error;
    icecore_stage *stage = icecore_stage_new("json", 4, &error);
    icecore_tape tape;
    icecore_bytes out;
    icecore_view view;
    char *text = malloc(10000);
    uint32_t list, target, i, read_count = 0;
    size_t len;
    const char *bytes;
    memset(text, 'x', 10000);
    ice_tape_begin(engine, &tape);
    list = ice_push(engine, &tape, ICECORE_ARRAY, 0, 0, 0, 0);
    for (i = 0; i < 5000; i++)
        ice_push(engine, &tape, ICECORE_INT, 0, 0, 0, i);
    ice_push_string(engine, &tape, ICECORE_BYTES, 0, 0, text, 10000);
    ice_end_node(&tape, list, 5001, 0);
    ice_tape_finish(engine, &tape);
    OK(icecore_view_tape(engine, &tape, &view, &error) == ICECORE_OK);
    OK(ice_last_child(&view, list) == 5001);
    OK(ice_next(&view, list) == 5002 && ice_next(&view, 1) == 2);
    bytes = ice_bytes_of(&view, &view.nodes[5001], &len);
    OK(len == 10000 && memcmp(bytes, text, len) == 0);
    OK(icecore_write(engine, stage, &tape, &out, NULL, &error) == ICECORE_OK);
    OK(out.len > 30000 && memcmp(out.bytes, "[0,1,2,", 7) == 0);

    /* A reference is a wrapper node: it ends where its only child ends. A link sets a flag on its
     * target. */
    ice_tape_begin(engine, &tape);
    ice_push(engine, &tape, ICECORE_REF, 0, 0, 1, 0);
    ice_push(engine, &tape, ICECORE_REF, 0, 0, 1, 0);
    target = ice_push(engine, &tape, ICECORE_INT, 0, 0, 0, 5);
    ice_end_wrappers(&tape, 2);
    OK((uint32_t)tape.nodes[0].payload == 3 && (uint32_t)tape.nodes[1].payload == 3 && tape.nodes[1].aux == 1);
    ice_push_link(engine, &tape, ICECORE_ALIAS, 0, 0, target);
    OK(tape.nodes[target].flags == ICECORE_FLAG_TARGET && tape.nodes[3].payload == target);

    /* A string whose offset is outside of the view is an error, and its bytes are not read. */
    for (i = 0; i < 2; i++) {
        const icecore_node bad_node = { ICECORE_BYTES, 0, 0, i ? ICECORE_LONG : 4, i ? 99 : 1000000 };
        memset(&view, 0, sizeof view);
        if (!setjmp(fail_target)) {
            (void)ice_bytes_of(&view, &bad_node, &len);
            read_count++;
        }
    }
    OK(read_count == 0 && strcmp(fail_message, "a string outside the document") == 0);
    free(text);
    icecore_stage_free(stage);
    icecore_context_free(engine);
}

/* A document that is written in parts. */
static void
test_parts(void)
{
    icecore_context *engine = icecore_context_new();
    icecore_error error;
    icecore_stage *sereal = icecore_stage_new("sereal", 6, &error), *json = icecore_stage_new("json", 4, &error);
    icecore_tape tape;
    icecore_bytes out;
    ice_part_result result;
    uint32_t part_count = 0, i, written = 0;
    ice_tape_begin(engine, &tape);
    ice_push(engine, &tape, ICECORE_ARRAY, 0, 0, 3000, 0);
    for (i = 0; i < 3000; i++) {
        ice_push(engine, &tape, ICECORE_INT, 0, 0, 0, i % 10);
        if (i % 1000 == 0)
            written += ice_write_part(engine, sereal, &tape, &part_count) == ICE_PART_WRITTEN;
    }
    ice_tape_finish(engine, &tape);
    OK(written == 3 && part_count == 3);
    OK(icecore_write(engine, sereal, &tape, &out, NULL, &error) == ICECORE_OK && out.len > 3000);
    part_count = 0;
    ice_tape_begin(engine, &tape);
    ice_push(engine, &tape, ICECORE_INT, 0, 0, 0, 1);
    result = ice_write_part(engine, json, &tape, &part_count);
    OK(result == ICE_PART_WRITTEN || (result == ICE_PART_UNSUPPORTED && tape.node_count == 1));
    icecore_stage_free(sereal);
    icecore_stage_free(json);
    icecore_context_free(engine);
}

static int released_sum;

static void
release(void *call_count, void *value)
{
    released_sum += *(int *)value;
    *(int *)call_count += 1;
}

static void
test_keys(void)
{
    ice_keys *keys = calloc(1, sizeof *keys);
    int values[3] = { 1, 10, 100 }, release_count = 0;
    uint16_t id = 0;
    ice_keys_set_generation(keys, 5, release, &release_count);
    OK(ice_keys_get(keys, 7) == NULL && !ice_keys_find_by_address(keys, &values[0], &id));
    ice_keys_store(keys, 7, &values[0]);
    ice_keys_store(keys, 65533, &values[1]);
    ice_keys_remember_address(keys, &values[0], 7);
    OK(ice_keys_get(keys, 7) == &values[0] && ice_keys_get(keys, 65533) == &values[1]);
    OK(ice_keys_find_by_address(keys, &values[0], &id) && id == 7);
    ice_keys_set_generation(keys, 5, release, &release_count);
    OK(released_sum == 0);
    ice_keys_set_generation(keys, 6, release, &release_count);
    OK(released_sum == 11 && release_count == 2);
    OK(ice_keys_get(keys, 7) == NULL && !ice_keys_find_by_address(keys, &values[0], &id));
    ice_keys_store(keys, 1, &values[2]);
    ice_keys_free(keys, release, &release_count);
    OK(released_sum == 111);
    free(keys);
}

typedef struct {
    ice_pooled_context pooled;
    int calls;
} context;

static void
test_pool(void)
{
    ice_pool pool = { 0 };
    context *contexts[ICE_POOL_MAX + 2], *ctx;
    int i, freed_count = 0;
    for (i = 0; i < ICE_POOL_MAX + 2; i++) {
        contexts[i] = (context *)ice_pool_acquire(&pool, sizeof(context));
        contexts[i]->calls++;
    }
    OK(contexts[0] != contexts[1] && contexts[0]->pooled.engine && contexts[1]->calls == 1);
    for (i = 0; i < ICE_POOL_MAX + 2; i++)
        if (!ice_pool_release(&pool, &contexts[i]->pooled)) {
            ice_pooled_context_free(&contexts[i]->pooled);
            freed_count++;
        }
    OK(freed_count == 2 && pool.count == ICE_POOL_MAX);
    ctx = (context *)ice_pool_acquire(&pool, sizeof(context));
    OK(ctx == contexts[ICE_POOL_MAX - 1] && ctx->calls == 1);
    OK(ice_pool_release(&pool, &ctx->pooled));
    while ((ctx = (context *)ice_pool_pop(&pool)))
        ice_pooled_context_free(&ctx->pooled);
    OK(pool.count == 0);
    ice_pool_abandon(&pool);
}

static void
test_message(void)
{
    static const ice_limit_words words[] = {
        { "depth", "raise it with max_depth => N" }, { ICE_TRAILING, "cut them off" }
    };
    icecore_context *engine = icecore_context_new();
    icecore_error error;
    icecore_stage *stage = icecore_stage_new("json", 4, &error);
    icecore_view view;
    ice_line line;
    OK(icecore_read(engine, stage, (const uint8_t *)"[1, x]", 6, 0, &view, &error) == ICECORE_MALFORMED);
    ice_message(&error, words, 1, &line);
    OK(strstr(line.text, "at offset 4 at $[1]") && strstr(line.text, "found"));
    OK(icecore_stage_limit(stage, "depth", 5, 2, &error) == ICECORE_OK);
    OK(icecore_read(engine, stage, (const uint8_t *)"[[[[1]]]]", 9, 0, &view, &error) == ICECORE_LIMIT);
    OK(strstr(ice_message(&error, words, 1, &line), "(raise it with max_depth => N)") != NULL);
    OK(strstr(ice_message(&error, NULL, 0, &line), "(raise the limit `depth`") != NULL);
    OK(icecore_read(engine, stage, (const uint8_t *)"[1] [2]", 7, 0, &view, &error) == ICECORE_TRAILING);
    OK(strstr(ice_message(&error, words, 2, &line), " (cut them off)") != NULL && !strstr(line.text, ICE_TRAILING));
    OK(strstr(ice_message(&error, words, 1, &line), ICE_TRAILING) != NULL);
    memset(error.message, 'y', sizeof error.message);
    error.message[sizeof error.message - 1] = 0;
    error.message[3] = '\n';
    OK(strlen(ice_message(&error, words, 1, &line)) == sizeof error.message - 1 && line.text[3] == ' ');
    /* The second argument is the name that this host has for ICECORE_BAD_LINK. */
    OK(strcmp(ice_kind_name(ICECORE_TRUNCATED, "bad-link"), "truncated") == 0);
    OK(strcmp(ice_kind_name(ICECORE_BAD_LINK, "bad-link"), "bad-link") == 0);
    OK(strcmp(ice_kind_name(ICECORE_OUTPUT, ""), "output") == 0);
    OK(strcmp(ice_kind_name(ICECORE_OTHER, ""), "other") == 0);
    OK(strcmp(ice_kind_name(ICECORE_OK, ""), "other") == 0);
    OK(strcmp(ice_kind_name(ICECORE_PANIC, ""), "defect") == 0);
    icecore_stage_free(stage);
    icecore_context_free(engine);
}

/* The list contains each class that icecore_classes reports, in the same order. */
static void
test_found_classes(void)
{
    static const char text[] = "a:2:{i:0;O:3:\"Foo\":0:{}i:1;O:6:\"My\\Bar\":0:{}}";
    icecore_error error;
    icecore_stage *stage = icecore_stage_new("php", 3, &error);
    ice_found_classes found = { NULL, 0, 0, 0 };
    ice_found_class class_use;
    const char *cursor = NULL;
    OK(!ice_found_classes_next(&found, &cursor, &class_use));
    OK(icecore_classes(stage, (const uint8_t *)text, sizeof text - 1, ice_found_classes_add, &found, &error)
       == ICECORE_OK);
    OK(ice_found_classes_next(&found, &cursor, &class_use));
    OK(class_use.name.len == 3 && memcmp(class_use.name.bytes, "Foo", 3) == 0);
    OK(class_use.count == 1 && class_use.path.len == 4 && memcmp(class_use.path.bytes, "$[0]", 4) == 0);
    OK(ice_found_classes_next(&found, &cursor, &class_use));
    OK(class_use.name.len == 6 && memcmp(class_use.kind.bytes, "object", 6) == 0);
    OK(!ice_found_classes_next(&found, &cursor, &class_use));
    ice_found_classes_free(&found);
    cursor = NULL;
    OK(!found.text && !ice_found_classes_next(&found, &cursor, &class_use));
    icecore_stage_free(stage);
}

int
main(void)
{
    if (icecore_tape_version() != ICECORE_TAPE_VERSION)
        return 1;
    test_bytes();
    test_stack();
    test_map();
    test_tape();
    test_parts();
    test_keys();
    test_pool();
    test_message();
    test_found_classes();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
