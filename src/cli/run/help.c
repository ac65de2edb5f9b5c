/* What elector run --help says. */
#define _GNU_SOURCE
#include "cli/run/run.h"

#include <stdio.h>

static const char usage[] =
    "Usage: elector run [options] GROUP -- COMMAND [ARGUMENT...]\n"
    "       elector run [options] --group 'shard-{0..63}' --spread -- COMMAND [ARGUMENT...]\n"
    "       elector run [options] GROUP --on-elected CMD --on-lost CMD\n\n"
    "Campaigns for GROUP and runs COMMAND while it leads: on many hosts, at one at a time. Without a shell.\n\n";

static const char election[] =
    "To be elected\n"
    "  --url URL               unix:PATH, an agent's socket; file:PATH, a folder of locks on this host.\n"
    "                          Else $ELECTOR_URL, else the agent's usual socket, else a folder on this host\n"
    "  --group NAMES           instead of GROUP, up to 256: a,b,c or shard-{0..63} or {eu,us}-{1..3}; may be repeated.\n"
    "                          COMMAND runs once for each group led, ELECTOR_GROUP says which\n"
    "  --spread                share the groups out evenly over all hosts that do the same, and again when one comes\n"
    "                          or goes; few groups move that need not\n"
    "  --priority N            of equal members the higher is preferred (100)\n"
    "  --rank WHAT             a priority that is measured: ip, cpu (processors x MHz), disk:PATH (free MiB),\n"
    "                          files:PATH (how many), uptime (seconds), cmd:COMMAND (its first line; no shell)\n"
    "  --preempt-after SECONDS where the group's configuration has preempt = on: stand for so long before a leader of\n"
    "                          lower priority makes way (0)\n"
    "  --no-preempt            wait for as long as another leads\n"
    "  --penalty SECONDS       after a tenure that was short by our own fault stand with priority 0 for so long, twice as\n"
    "                          long each time up to 32 times, anew after a tenure of 60 s (30; 0: never)\n"
    "  --value TEXT            proclaimed when elected, for all to see\n"
    "  -n, --no-wait           do not wait: give up if another leads, or after 2 seconds\n"
    "  -w, --wait SECONDS      give up after so long\n"
    "  -E, --exit-code CODE    the exit code if not elected (1 unless given), and of --once (75 unless given)\n\n";

static const char work[] =
    "The command\n"
    "  --once                  when leadership is lost, exit; otherwise campaign again\n"
    "  --restart WHEN          never, on-failure or always: start the command again while still leading,\n"
    "                          after 0.1 s, twice as long each time up to 30 s, anew after 60 s of running; a command\n"
    "                          that fails three times within 10 s of its start makes way for another candidate.\n"
    "                          Unless given: never for one group, on-failure for many\n"
    "  --stop-timeout SECONDS  between SIGTERM and SIGKILL, 5 unless given; less if the lease ends before\n"
    "  --quiet                 only what went wrong\n"
    "  --verbose               every step\n\n";

static const char beside[] =
    "Beside the command; each CMD is split at blanks and run without a shell\n"
    "  --on-elected CMD        before the command starts; if it fails, this is said and the command starts all the same\n"
    "  --on-lost CMD           after the command has ended, before another leads if the lease leaves time for it\n"
    "  --on-leader CMD         whenever another or this host leads: ELECTOR_LEADER. For each group these run one at a\n"
    "                          time, in the order elected, lost, leader. With hooks, COMMAND may be left out\n"
    "  --hook-timeout SECONDS  a hook that takes longer is killed (30)\n"
    "  --health-cmd CMD        must succeed for this host to stand, and to go on leading: who fails hands over to another\n"
    "                          candidate, or leads on if there is none\n"
    "  --health-interval SECONDS   how often (2)\n"
    "  --health-timeout SECONDS    for how long at most (2)\n"
    "  --health-failures N         how many failures in a row count (3)\n\n";

static const char rest[] =
    "The command finds ELECTOR_GROUP, ELECTOR_TOKEN, ELECTOR_ID (this member), ELECTOR_SOCKET (the URL) and\n"
    "ELECTOR_DEADLINE_NS (on CLOCK_BOOTTIME, when it was started; 0: no lease) in its environment, hooks ELECTOR_EVENT\n"
    "and ELECTOR_LEADER besides. The signals INT, TERM, HUP, QUIT, USR1, USR2, WINCH, TSTP and CONT are passed on to its\n"
    "process group.\n\n"
    "When leadership is to be handed over or its deadline nears, all that the command has started gets SIGTERM, then\n"
    "SIGKILL; only when nothing is left is leadership given up. This holds also if the agent hangs, and if elector\n"
    "run is stopped or killed: a second process (elector-keeper) kills the command then. What it cannot stop: what other\n"
    "services do on the command's behalf; commands that change their user; and where both processes are killed in one\n"
    "instant, all but the command itself. Give the token to what the command writes to, which refuses lower ones.\n\n"
    "Exit: the command's status, 128 and the number of the signal that ended it; 126 it cannot be executed,\n"
    "127 it is not found; 1 not elected; 75 leadership lost with --once; 2 usage; 3 no election is possible.\n"
    "For many groups: that of the first one whose is not 0, when all have ended.\n\n"
    "Examples:\n"
    "  elector run billing -- ./worker --queue invoices\n"
    "  elector run --once -w 60 --rank disk:/var backup -- rsync -a /srv/ vault:/srv/\n"
    "  elector run --on-elected 'ip addr add 10.0.0.9/24 dev eth0' --on-lost 'ip addr del 10.0.0.9/24 dev eth0' vip\n"
    "  elector run --group 'shard-{0..63}' --spread --health-cmd 'test -d /data' -- ./indexer\n";

void run_write_help(void)
{
    fputs(usage, stdout);
    fputs(election, stdout);
    fputs(work, stdout);
    fputs(beside, stdout);
    fputs(rest, stdout);
}
