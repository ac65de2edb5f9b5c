# shellcheck shell=bash # see test/cluster/lib.sh
# What the stories of engines are told with, and for kube-apiserver those stories too.
for each in test/engines/lib_*.sh test/engines/stories_*.sh; do
    # shellcheck disable=SC1090
    source "$each"
done
