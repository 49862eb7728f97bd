#!/bin/bash
# Proves a release: two from one commit are equal, and it works on a machine without Go. Without root and
# debootstrap, only the first.
#
#	internal/project/release/proof.sh build/fresh    the folder keeps a Debian for the next call
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
root=$(realpath -m "${1:-build/fresh}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

make release >/dev/null
git clone -q . "$scratch/clone" # at another path
make -C "$scratch/clone" release >/dev/null
version=$(make -s version)
sums=kafka-bench_${version}_checksums.txt
diff "build/release/$sums" "$scratch/clone/build/release/$sums"
(cd build/release && sha256sum -c --quiet "$sums" && [ "$(wc -l <"$sums")" = "$(ls | grep -vc "$sums")" ])
echo "two releases $version are equal: $(wc -l <"build/release/$sums") files"

tree=$scratch/kafka-bench_${version}_linux_amd64
tar -xzf "build/release/$(basename "$tree").tar.gz" -C "$scratch"
for link in $(grep -oE '\]\([^)#:]+' "$tree/README.md" | cut -c3- | sort -u); do
  [ -e "$tree/$link" ] || { echo "README of the archive: no $link" >&2; exit 1; }
done
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "not on a machine without Go: that needs root and debootstrap"
  exit
fi

if [ ! -e "$root/usr/bin/man" ]; then
  . /etc/os-release
  mkdir -p "$root"
  debootstrap --variant=minbase --include=man-db,bash-completion "$VERSION_CODENAME" "$root" >"$scratch/log" ||
    { tail "$scratch/log" >&2; exit 1; }
fi
rm -rf "$root/release"
mkdir "$root/release"
cp -r "$tree" "build/release/kafka-bench_${version}_amd64.deb" "$root/release/"
cat >"$root/release/check.sh" <<'CHECK'
set -euo pipefail
mount -t proc proc /proc
cd /release
! command -v go
works() { # the program, its manual page and the file of its completions
  "$1" version
  "$1" doctor >/dev/null
  out=$(mktemp -d)
  "$1" run quick --cluster embedded --out "$out" >"$out.log" 2>&1 || [ $? = 1 ] || { cat "$out.log"; exit 1; } # 1: the machine was too busy to measure
  "$1" report "$out"/*quick* | sed -n 1,2p
  MANPAGER=cat man "$2" 2>/dev/null | grep 'kafka-bench r' >/dev/null
  bash -c "$3"'
    . /usr/share/bash-completion/bash_completion; '"${4:-_completion_loader kafka-bench}"'
    COMP_WORDS=(kafka-bench rep) COMP_CWORD=1 COMP_LINE="kafka-bench rep" COMP_POINT=15 COMP_TYPE=9
    __start_kafka-bench 2>/dev/null; [[ ${COMPREPLY[*]} == report* ]]'
}
files() { find /usr /etc /var/lib/dpkg/info -xdev ! -path '/usr/share/man/*cat*' | sort; }
folder=$(ls -d kafka-bench_*/)
works "./${folder}kafka-bench" "./${folder}man/kafka-bench.1" "PATH=\$PWD/$folder:\$PATH;" ". ./${folder}completions/kafka-bench.bash"
dpkg --purge kafka-bench >log 2>&1 # of a call that was interrupted
files >before
apt-get install -y -qq ./*.deb >log 2>&1 || { cat log; exit 1; }
works kafka-bench kafka-bench-report ''
[ "$(dpkg -L kafka-bench | grep -c man1/)" -gt 20 ]
apt-get purge -y -qq kafka-bench >log 2>&1 || { cat log; exit 1; }
files | diff before -
CHECK
unshare --mount --propagation private env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
  PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" bash /release/check.sh
echo "release $version works on a Debian without Go, as an archive and as a package, and removal leaves nothing"
