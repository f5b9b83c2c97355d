#!/bin/sh
# Creates an unprivileged container of Debian 12 with PostgreSQL and Carillon on a host of Proxmox VE:
#
#   ./create-lxc.sh 120 carillon_0.1.0_amd64.deb
#
# UNTESTED: shellcheck has read it, but it never ran on a Proxmox VE.
set -eu

if [ $# -ne 2 ] || [ ! -f "$2" ]; then
  echo "Usage: $0 <id of the container> <path of the .deb>" >&2
  exit 2
fi
id=$1
package=$2
storage=${STORAGE:-local-lvm}
templates=${TEMPLATES:-local}
bridge=${BRIDGE:-vmbr0}

pveam update
template=$(pveam available --section system | awk '$2 ~ /^debian-12-standard/ { name = $2 } END { print name }')
if [ -z "$template" ]; then
  echo "There is no template of Debian 12: pveam available --section system" >&2
  exit 1
fi
pveam list "$templates" | grep -q "$template" || pveam download "$templates" "$template"

pct create "$id" "$templates:vztmpl/$template" \
  --hostname carillon --unprivileged 1 --features nesting=1 --onboot 1 \
  --cores 2 --memory 2048 --rootfs "$storage:8" \
  --net0 "name=eth0,bridge=$bridge,ip=dhcp"
pct start "$id"

# Until the network is there.
attempts=0
until pct exec "$id" -- apt-get -q update; do
  attempts=$((attempts + 1))
  if [ "$attempts" -ge 20 ]; then
    echo "The container has no network: pct enter $id" >&2
    exit 1
  fi
  sleep 3
done
pct push "$id" "$package" /root/carillon.deb
# PostgreSQL first, so that the installation finds it running and makes the database.
pct exec "$id" -- env DEBIAN_FRONTEND=noninteractive apt-get -q install --yes postgresql
pct exec "$id" -- env DEBIAN_FRONTEND=noninteractive apt-get -q install --yes /root/carillon.deb
pct exec "$id" -- carillon setup-link
echo "Carillon listens in the container at 127.0.0.1:3000. Put a reverse proxy before it, and set BASE_URL and TRUST_PROXY"
echo "in /etc/carillon/carillon.env: pct enter $id"
