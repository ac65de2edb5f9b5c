/* elector guardian: the process that the agent starts next to itself. */
#include <string.h>
#include <sys/socket.h>

#include "agent/guardian/guardian.h"
#include "agent/guardian/spawn.h"
#include "base/kernel/realtime.h"
#include "base/log/log.h"
#include "cli/cli.h"

int cli_guardian(int argc, char **argv)
{
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(CLIENT_CHANNEL, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
        return cli_usage_error("guardian", "only the agent starts it; see elector-agent(8)");
    log_set(argc > 1 && strcmp(argv[1], "json") == 0, false);
    if (argc > 2 && strcmp(argv[2], "realtime") == 0)
        (void)realtime_begin(REALTIME_GUARDIAN,
                             REALTIME_WITH_CHILDREN); /* the agent has said what is refused */
    guardian_main(CLIENT_CHANNEL, CLIENT_AGENT);
}
