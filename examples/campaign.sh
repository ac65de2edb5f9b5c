#!/bin/sh
# Campaigns at an agent without the library, with JSON lines over its socket (docs/socket-protocol.md). A shell cannot open
# a Unix socket, so perl carries the lines: every Debian has it. `nc -U` or socat would also do.
#
# Usage: campaign.sh GROUP [SOCKET]
#
# Prints a line when it is elected and when it has lost, and answers a request to stop at once. It does not check the
# deadline. To do real work, use `elector run` or the library, and fence with the token.
set -eu
group=${1:?"Usage: campaign.sh GROUP [SOCKET]"}
socket=${2:-/run/elector/agent.sock}
case $group in
*[!A-Za-z0-9._:/-]*) echo "campaign.sh: '$group' is no name for a group" >&2; exit 2 ;;
esac

carry() {
    perl -MIO::Socket::UNIX -MIO::Select -e '
        my $agent = IO::Socket::UNIX->new(Peer => $ARGV[0])
            or die "$ARGV[0]: $!; is the agent running?\n";
        my $select = IO::Select->new($agent, \*STDIN);
        while (my @ready = $select->can_read) {
            for my $from (@ready) {
                sysread($from, my $bytes, 65536) or exit 0;
                syswrite($from == $agent ? \*STDOUT : $agent, $bytes);
            }
        }' "$socket"
}

# field NAME LINE: prints the value, a number or a text without quotes in it.
field() { printf '%s\n' "$2" | sed -n 's/.*"'"$1"'": *"\{0,1\}\([^",}]*\).*/\1/p'; }

pipes=$(mktemp -d)
trap 'rm -rf "$pipes"' EXIT
trap 'exit 0' INT TERM
mkfifo "$pipes/asked"
# shellcheck disable=SC2094 # a pipe: one end is written, the other is read
carry <"$pipes/asked" | {
    exec 3>"$pipes/asked"
    echo '{"id":1,"op":"campaign","group":"'"$group"'"}' >&3
    while IFS= read -r line; do
        case $line in
        *'"ok":false'*) echo "refused: $(field message "$line")" >&2; exit 1 ;;
        *'"event":"elected"'*) echo "elected $group token $(field token "$line")" ;;
        *'"event":"lost"'*) echo "lost $group token $(field token "$line"): $(field reason "$line")" ;;
        *'"event":"stop"'*) # a real worker would end its work here first
            echo '{"op":"stopped","group":"'"$group"'","token":'"$(field token "$line")"'}' >&3 ;;
        esac
    done
    echo "the agent is gone" >&2
    exit 1
}
