/* elector run --help. */
#define _GNU_SOURCE
#include "cli/run/run.h"

#include <stdio.h>

static const char usage[] =
    "Usage: elector run [options] GROUP -- COMMAND [ARGUMENT...]\n"
    "       elector run [options] --group 'shard-{0..63}' --spread -- COMMAND [ARGUMENT...]\n"
    "       elector run [options] GROUP --on-elected CMD --on-lost CMD\n\n"
    "Campaigns for GROUP and runs COMMAND, without a shell, while this host leads. On many hosts, COMMAND runs on one\n"
    "at a time.\n\n";

static const char election[] =
    "Election\n"
    "  --url URL               unix:PATH, an agent's socket; file:PATH, a folder of locks on this host;\n"
    "                          etcd://HOST/PREFIX, zookeeper://HOST/PATH or kubernetes:///NAMESPACE, a store\n"
    "                          (elector help engines).\n"
    "                          Default: $ELECTOR_URL, else the agent's default socket. Only on a host without any sign\n"
    "                          of an agent: locks in ~/.local/state/elector, which is said even with --quiet\n"
    "  --group NAMES           instead of GROUP, up to 256: a,b,c or shard-{0..63} or {eu,us}-{1..3}; may be repeated.\n"
    "                          COMMAND runs once for each group led; ELECTOR_GROUP names the group\n"
    "  --spread                distribute the groups evenly over all hosts that do the same, and again when a host\n"
    "                          comes or goes; few other groups move\n"
    "  --priority N            among equal members the highest is preferred (default 100)\n"
    "  --rank WHAT             measure the priority: ip, cpu (processors x MHz), disk:PATH (free MiB),\n"
    "                          files:PATH (number of files), uptime (seconds), cmd:COMMAND (its first line; no shell).\n"
    "                          At most 5 s. If it fails, the last value counts\n"
    "  --preempt-after SECONDS if the group's configuration has preempt = on: campaign for SECONDS before a leader of\n"
    "                          lower priority hands over (default 0)\n"
    "  --no-preempt            wait for as long as another leads\n"
    "  --penalty SECONDS       after a tenure that was short by its own fault, campaign with priority 0 for SECONDS. Doubles\n"
    "                          each time up to 32 times; starts anew after a tenure of 60 s (default 30; 0: never)\n"
    "  --value TEXT            proclaim TEXT when elected, for all observers\n"
    "  -n, --no-wait           give up if another leads, or after 2 seconds\n"
    "  -w, --wait SECONDS      give up if not elected after SECONDS; without it, wait for the agent and the election\n"
    "                          without limit\n"
    "  -E, --exit-code CODE    exit code if not elected (default 1), and for --once (default 75)\n\n";

static const char command[] =
    "Command\n"
    "  --once                  exit when leadership is lost; without this option, campaign again\n"
    "  --restart WHEN          never, on-failure or always: start the command again while still leading. The delay is\n"
    "                          0.1 s; it doubles each time up to 30 s, and starts anew after 60 s of running. After three\n"
    "                          failures in a row within 10 s of the start, hand over to another candidate.\n"
    "                          Default: never for one group, on-failure for many\n"
    "  --stop-timeout SECONDS  time between SIGTERM and SIGKILL (default 5); less if the lease ends before. For a hand-over\n"
    "                          the agent renews the lease for that long (at most its `stop-timeout`, 30 s)\n"
    "  --watchdog SECONDS      lead only while the loop of elector run says that it is alive, so often at least. It covers\n"
    "                          elector run, not the command: see --health-cmd\n"
    "  --quiet                 print only errors, and whether this host elects alone or waits for its agent\n"
    "  --verbose               print every step\n\n";

static const char hooks[] =
    "Hooks and health check; each CMD is split at blanks and run without a shell\n"
    "  --on-elected CMD        before the command starts. If it fails, this is reported and the command starts anyway\n"
    "  --on-lost CMD           after the command has stopped, and before another leads if the lease leaves time for it; also\n"
    "                          if elector run is killed or hangs\n"
    "  --on-leader CMD         when another host or this one becomes leader; ELECTOR_LEADER names it. The hooks of a group\n"
    "                          run one at a time, in the order elected, lost, leader. With a hook, COMMAND is optional\n"
    "  --hook-timeout SECONDS  kill a hook that takes longer (default 30). What --on-elected or --on-lost has started is\n"
    "                          killed when the hook ends\n"
    "  --health-cmd CMD        must succeed for this host to campaign and to continue to lead. A leader that fails hands\n"
    "                          over to another candidate, or continues if there is none\n"
    "  --health-interval SECONDS   time between checks (default 2)\n"
    "  --health-timeout SECONDS    kill a check that takes longer (default 2)\n"
    "  --health-failures N         how many failures in a row count (default 3)\n\n";

static const char rest[] =
    "The command finds in its environment: ELECTOR_GROUP, ELECTOR_TOKEN, ELECTOR_ID (this member), ELECTOR_SOCKET (the URL)\n"
    "and ELECTOR_DEADLINE_NS (the end of the lease on CLOCK_BOOTTIME when the command was started; 0: no lease). Hooks find\n"
    "ELECTOR_EVENT and ELECTOR_LEADER, too. The signals INT, TERM, HUP, QUIT, USR1, USR2, WINCH, TSTP and CONT are forwarded\n"
    "to the command's process group.\n\n"
    "When leadership is handed over, or the lease is about to end, all processes that the command started get SIGTERM, then\n"
    "SIGKILL. Leadership is given up only when none is left. This also holds if the agent hangs, and if elector run is\n"
    "stopped or killed: then a second process (elector-keeper) kills the command and runs --on-lost. elector run cannot stop\n"
    "what other services do on the command's behalf, nor commands that change their user. If both of its processes are\n"
    "killed at the same instant, only the command itself is stopped. Pass the token to the resource that the command writes\n"
    "to, and let it refuse lower ones.\n\n"
    "Exit: the command's status, or 128 plus the number of the signal that ended it; 126 it cannot be executed, 127 it is\n"
    "not found; 1 not elected, or refused; 75 leadership lost with --once; 2 usage; 3 no election is possible. For many groups: the\n"
    "first status that is not 0, when all have ended.\n\n"
    "Examples:\n"
    "  elector run billing -- ./worker --queue invoices\n"
    "  elector run --once -w 60 --rank disk:/var backup -- rsync -a /srv/ vault:/srv/\n"
    "  elector run --on-elected 'ip addr add 10.0.0.9/24 dev eth0' --on-lost 'ip addr del 10.0.0.9/24 dev eth0' vip\n"
    "  elector run --group 'shard-{0..63}' --spread --health-cmd 'test -d /data' -- ./indexer\n";

void run_write_help(void)
{
    fputs(usage, stdout);
    fputs(election, stdout);
    fputs(command, stdout);
    fputs(hooks, stdout);
    fputs(rest, stdout);
}
