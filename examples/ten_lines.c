/* A leader in ten lines. Without an agent: ELECTOR_URL=file:. ./ten_lines. Without the variable it asks the agent. */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>

#include <elector.h>

int main(void)
{
    elector *e;
    uint64_t token;
    if (elector_open(NULL, &e) != ELECTOR_OK || elector_campaign(e, "jobs", NULL, -1, &token) != ELECTOR_OK)
        errx(1, "%s", elector_message(e));
    for (int job = 0; job < 3 && elector_dispatch(e) == ELECTOR_OK && elector_is_leader(e, "jobs"); job++)
        printf("job %d under token %" PRIu64 "\n", job, token);
    elector_close(e);
    return 0;
}
