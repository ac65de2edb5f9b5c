#!/usr/bin/env bash
# Boots systemd over this host's own files, of which none is changed: first in namespaces of its own, PID 1 among them.
#
#     boot.sh FOLDER          with FOLDER/root, empty, and FOLDER/host: what is laid over the host's files
set -euo pipefail
work=$1 root=$1/root
mount --make-rprivate /
mkdir "$work/over"
mount -t tmpfs over "$work/over"
mkdir "$work"/over/{upper,work}
cp -a "$work/host/." "$work/over/upper/"
mount -t overlay -o "lowerdir=/,upperdir=$work/over/upper,workdir=$work/over/work" host "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for folder in dev run tmp; do mount -t tmpfs "$folder" "$root/$folder"; done
for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root"/dev/{pts,shm}
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
touch "$root/dev/console"
mount --bind "$work/console" "$root/dev/console"
exec chroot "$root" /usr/bin/env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    "$(command -v /usr/lib/systemd/systemd || echo /lib/systemd/systemd)" --system --unit=elector-test.target --log-target=console --show-status=no
