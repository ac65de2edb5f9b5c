/* elector detect: the detectors and their options, and the option of each that a sweep varies. */
#include <string.h>

#include "cli/lab/detect.h"

enum { SWEEP_MAX = 9 };

/* For each detector, the option that trades speed for accuracy, and its values in a sweep. */
static const struct sweep {
    const char *detector, *option, *usual;
    uint32_t values[SWEEP_MAX]; /* ends with 0 */
} sweeps[] = {
    {"heartbeat", "threshold", "heartbeat:threshold=3", {1, 2, 3, 4, 5, 6, 8}},
    {"phi", "threshold", "phi:threshold=8", {1, 2, 4, 8, 16, 32, 64, 128}},
    {"swim", "shortest", "swim:shortest=4", {1, 2, 3, 4, 6, 8}},
    {"path", "lag", "path:lag=5", {2, 3, 4, 5, 6, 8}},
};
enum { SWEEPS = sizeof sweeps / sizeof *sweeps };
_Static_assert((int)SWEEPS <= (int)DETECT_USUAL_MAX, "each may have a curve");

static bool is_name_of(const struct sweep *sweep, const char *detector)
{
    const size_t length = strlen(sweep->detector);
    return strncmp(detector, sweep->detector, length) == 0 &&
           (detector[length] == '\0' || detector[length] == ':');
}

static const struct sweep *sweep_of(const char *detector)
{
    for (size_t i = 0; i < SWEEPS; i++)
        if (is_name_of(&sweeps[i], detector)) return &sweeps[i];
    return NULL;
}

/* True if this "KEY=VALUE", or bare value (of the first option), sets the swept option. */
static bool sets_swept(const struct sweep *sweep, const char *piece, size_t length)
{
    const size_t name = strlen(sweep->option);
    if (memchr(piece, '=', length)) return strncmp(piece, sweep->option, name) == 0 && piece[name] == '=';
    return strcmp(el_detector_named(sweep->detector)->options[0].name, sweep->option) == 0;
}

/* The detector as typed, without the swept option. */
static void without_swept(const struct sweep *sweep, const char *detector, char *text, size_t size)
{
    const char *piece = strchr(detector, ':');
    size_t used = (size_t)snprintf(text, size, "%s", sweep->detector);
    const char *joint = ":";
    for (piece = piece ? piece + 1 : NULL; piece && *piece && used < size;) {
        const size_t length = strcspn(piece, ",");
        if (!sets_swept(sweep, piece, length)) {
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", joint, (int)length, piece);
            joint = ",";
        }
        piece += length + (piece[length] == ',');
    }
}

static int add_row(struct detect_request *request, uint32_t curve, const char *text)
{
    if (request->row_count == DETECT_ROWS_MAX)
        return cli_usage_error("detect", "more than %d detectors at a time are too many", DETECT_ROWS_MAX);
    struct detect_row *row = &request->rows[request->row_count++];
    row->curve = curve;
    if (snprintf(row->text, sizeof row->text, "%s", text) < (int)sizeof row->text) return CLI_YES;
    return cli_usage_error("detect", "%.40s…: that is too long for a detector", text);
}

static uint32_t add_curve(struct detect_request *request, const char *name)
{
    struct detect_curve *curve = &request->curves[request->curve_count];
    const struct sweep *sweep = sweep_of(name);
    snprintf(curve->name, sizeof curve->name, "%s", name);
    curve->option = sweep ? sweep->option : NULL;
    return (uint32_t)request->curve_count++;
}

/* The curve shared by all detectors of this kind. */
static uint32_t curve_of_kind(struct detect_request *request, const char *detector)
{
    char name[sizeof request->curves->name];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(detector, ":"), detector);
    for (uint32_t i = 0; i < request->curve_count; i++)
        if (strcmp(request->curves[i].name, name) == 0) return i;
    return add_curve(request, name);
}

int detect_add(struct detect_request *request, const char *detector)
{
    const struct sweep *sweep = request->sweep ? sweep_of(detector) : NULL;
    if (!sweep) return add_row(request, curve_of_kind(request, detector), detector);
    char base[sizeof request->rows->text], text[sizeof base + 40];
    without_swept(sweep, detector, base, sizeof base);
    const uint32_t curve = add_curve(request, base);
    int status = CLI_YES;
    for (size_t i = 0; i < SWEEP_MAX && sweep->values[i] && status == CLI_YES; i++) {
        snprintf(text, sizeof text, "%s%c%s=%u", base, strchr(base, ':') ? ',' : ':', sweep->option,
                 sweep->values[i]);
        status = add_row(request, curve, text);
    }
    return status;
}

int detect_add_usual(struct detect_request *request)
{
    int status = CLI_YES;
    for (size_t i = 0; i < SWEEPS && status == CLI_YES; i++)
        if (!request->arrivals || sim_qos_can_replay(el_detector_named(sweeps[i].detector)))
            status = detect_add(request, request->sweep ? sweeps[i].detector : sweeps[i].usual);
    return status;
}

void detect_find_value(struct detect_row *row, const struct sim_plan *plan)
{
    const struct sweep *sweep = sweep_of(row->text);
    for (uint32_t i = 0; sweep && i < plan->detector->option_count; i++)
        if (strcmp(plan->detector->options[i].name, sweep->option) == 0)
            snprintf(row->value, sizeof row->value, "%llu",
                     (unsigned long long)plan->detector_options[i].number);
}
