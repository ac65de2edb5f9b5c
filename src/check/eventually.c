/*
 * Liveness: a good world must be reachable from every world. The search keeps every move that is not a fault
 * as an edge, and marks good worlds and then their predecessors. No good world can be reached from an
 * unmarked one. The moves after it end or form a loop, and the counterexample shows either.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/explore.h"

enum { MARK_AGREED = 1, MARK_CUT = 2, MARK_REST = 4, MARK_GOOD = 8, MARK_SEEN = 16 };

struct check_edge {
    uint32_t from, to;
};

struct check_edges {
    struct check_edge *pairs;
    _Atomic uint64_t count;
    uint64_t most;
    uint8_t *marks; /* by number */
    uint64_t mark_most;
};

static void *reserve(uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

bool check_edges_init(struct check_search *search)
{
    struct check_edges *edges = calloc(1, sizeof *edges);
    search->edges = edges;
    if (!edges) return false;
    edges->most = search->config->memory / 2 / sizeof *edges->pairs;
    edges->mark_most = search->visited.origin_max;
    edges->pairs = reserve(edges->most * sizeof *edges->pairs);
    edges->marks = reserve(edges->mark_most);
    return edges->pairs && edges->marks;
}

void check_edges_free(struct check_search *search)
{
    struct check_edges *edges = search->edges;
    if (!edges) return;
    if (edges->pairs) munmap(edges->pairs, edges->most * sizeof *edges->pairs);
    if (edges->marks) munmap(edges->marks, edges->mark_most);
    free(edges);
    search->edges = NULL;
}

uint64_t check_edge_memory(const struct check_search *search)
{
    return search->edges ? atomic_load(&search->edges->count) * sizeof *search->edges->pairs : 0;
}

void check_edge(struct check_search *search, uint32_t from, uint32_t to, bool is_fault)
{
    struct check_edges *edges = search->edges;
    if (is_fault || from == to) return;
    const uint64_t at = atomic_fetch_add(&edges->count, 1);
    if (at >= edges->most) {
        atomic_store(&edges->count, edges->most);
        check_stop(search, "the moves between worlds take more than half of the memory");
        return;
    }
    edges->pairs[at] = (struct check_edge){from, to};
}

void check_mark(struct check_search *search, uint32_t number, const struct check_world *world)
{
    if (check_is_agreed(&search->model, world)) search->edges->marks[number] |= MARK_AGREED;
}

void check_mark_cut(struct check_search *search, uint32_t number)
{
    search->edges->marks[number] |= MARK_CUT;
}

void check_mark_rest(struct check_search *search, uint32_t number, const struct check_world *world)
{
    search->edges->marks[number] |= MARK_REST;
    if (!check_must_lead(&search->model, world)) search->edges->marks[number] |= MARK_AGREED;
}

/* Goes backwards: most moves lead to a higher number, so few passes are needed. */
static void spread(struct check_edges *edges)
{
    bool changes = true;
    while (changes) {
        changes = false;
        for (uint64_t i = atomic_load(&edges->count); i-- > 0;) {
            const struct check_edge edge = edges->pairs[i];
            if (!(edges->marks[edge.to] & MARK_GOOD) || (edges->marks[edge.from] & MARK_GOOD)) continue;
            edges->marks[edge.from] |= MARK_GOOD;
            changes = true;
        }
    }
}

static uint32_t first_hopeless(struct check_search *search, uint8_t good)
{
    struct check_edges *edges = search->edges;
    const uint64_t count = atomic_load(&search->visited.count);
    for (uint64_t i = 0; i < count; i++) {
        edges->marks[i] &= (uint8_t) ~(MARK_GOOD | MARK_SEEN);
        if (edges->marks[i] & (good | MARK_CUT)) edges->marks[i] |= MARK_GOOD;
    }
    spread(edges);
    for (uint32_t i = 0; i < count; i++)
        if (!(edges->marks[i] & MARK_GOOD)) return i;
    return UINT32_MAX;
}

static uint32_t some_successor(const struct check_edges *edges, uint32_t number)
{
    const uint64_t count = atomic_load(&edges->count);
    for (uint64_t i = 0; i < count; i++)
        if (edges->pairs[i].from == number) return edges->pairs[i].to;
    return UINT32_MAX;
}

/* A world that repeats after `number`, or UINT32_MAX if the path ends, at *end. */
static uint32_t find_return(struct check_edges *edges, uint32_t number, uint32_t *end)
{
    while (!(edges->marks[number] & MARK_SEEN)) {
        edges->marks[number] |= MARK_SEEN;
        *end = number;
        number = some_successor(edges, number);
        if (number == UINT32_MAX) return UINT32_MAX;
    }
    return number;
}

/* The shortest loop from a world back to itself, as numbers; breadth first over the edges. */
static uint32_t *shortest_round(struct check_search *search, uint32_t number, uint32_t *length)
{
    const struct check_edges *edges = search->edges;
    const uint64_t worlds = atomic_load(&search->visited.count), count = atomic_load(&edges->count);
    uint32_t *before = malloc(worlds * sizeof *before), *level = calloc(worlds, sizeof *level), *way = NULL;
    *length = 0;
    if (before && level) {
        memset(before, 0xFF, worlds * sizeof *before);
        bool closed = false;
        for (uint32_t depth = 1, grows = 1; grows && !closed; depth++) {
            grows = 0;
            for (uint64_t i = 0; i < count && !closed; i++) {
                const struct check_edge edge = edges->pairs[i];
                const bool reached = depth == 1 ? edge.from == number : level[edge.from] == depth - 1;
                if (!reached || before[edge.to] != UINT32_MAX) continue;
                before[edge.to] = edge.from;
                level[edge.to] = depth;
                grows = 1;
                if (edge.to == number) {
                    closed = true;
                    *length = depth;
                }
            }
        }
        way = calloc(*length + 1, sizeof *way);
        uint32_t at = number;
        for (uint32_t i = *length; way && i-- > 0; at = before[at]) way[i] = at;
    }
    free(before);
    free(level);
    return way;
}

static void show(struct check_search *search, enum check_property property, uint32_t number)
{
    struct check_result *result = search->result;
    uint32_t end = number, length = 0;
    result->verdict = CHECK_BROKEN;
    result->broken = property;
    const uint32_t again = find_return(search->edges, number, &end);
    if (again == UINT32_MAX) {
        check_retrace(search, end, &result->path);
        return;
    }
    uint32_t *way = shortest_round(search, again, &length);
    check_retrace_on(search, &result->path, again, way, way ? length : 0);
    free(way);
}

void check_judge_eventually(struct check_search *search)
{
    static const struct {
        enum check_property property;
        uint8_t good;
    } asked[] = {{CHECK_RESTS, MARK_REST}, {CHECK_ELECTS, MARK_AGREED}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked && search->result->verdict == CHECK_HOLDS; i++) {
        if (!(search->config->properties & 1u << asked[i].property)) continue;
        const uint32_t hopeless = first_hopeless(search, asked[i].good);
        if (hopeless != UINT32_MAX) show(search, asked[i].property, hopeless);
    }
}
