#!/bin/bash
# Runs the two commands of README on a fresh machine: a Debian in a folder (debootstrap, chroot) that
# has only Go, make, git and ca-certificates, and then more. Each command has a clone and caches of
# its own, and ends with its CPU time. As root on Debian:
#
#	internal/project/freshmachine/run.sh /var/tmp/fresh                 go, java, all
#	internal/project/freshmachine/run.sh /var/tmp/fresh java            only with Java and Maven
#	COMMANDS='make bench' internal/project/freshmachine/run.sh /var/tmp/fresh go
#
# The Debian stays in the folder for the next call. How this machine reaches package registries
# (environment, apt, certificates, Maven, Go) is copied into it.
set -euo pipefail
if [ $# -eq 0 ] || [ "$(id -u)" != 0 ]; then
  echo "usage, as root: $0 FOLDER [go|java|all]…" >&2
  exit 2
fi
# In a mount namespace, the kernel removes all mounts when the last process ends.
if [ -z "${FRESH_NAMESPACE:-}" ]; then
  FRESH_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
fi
repository=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
mkdir -p "$1"
root=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- go java all
for mode; do
  case $mode in go | java | all) ;; *) echo "error: no mode $mode; choose from go, java, all" >&2; exit 2 ;; esac
done

copy() { # files and folders of this machine, if it has them
  for path; do
    if [ -e "$path" ]; then
      mkdir -p "$root$(dirname "$path")"
      cp -rL "$path" "$root$(dirname "$path")"
    fi
  done
}

if [ ! -e "$root/etc/debian_version" ]; then
  . /etc/os-release
  debootstrap --variant=minbase --include=ca-certificates "$VERSION_CODENAME" "$root" >"$root.log" ||
    { tail "$root.log" >&2; exit 1; }
  rm "$root.log" "$root/etc/apt/sources.list" # this machine's sources are copied
fi
copy /etc/resolv.conf /etc/hosts /etc/apt /usr/share/keyrings /usr/local/share/ca-certificates /etc/maven/settings.xml
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
goroot=$(go env GOROOT)
mkdir -p "$root/usr/local/go"
mount --bind -o ro "$goroot" "$root/usr/local/go"

inside() { # in a home of its own
  home=$1
  shift
  mkdir -p "$root$home/.config/go" "$root$home/.m2"
  cp "$(go env GOENV)" "$root$home/.config/go/env" 2>/dev/null || true
  cp "${HOME:-/root}/.m2/settings.xml" "$root$home/.m2/" 2>/dev/null || true
  local settings=()
  for name in $(compgen -e); do # proxies and certificates
    case $name in *_proxy | *_PROXY | *CERT* | *CA_BUNDLE* | *CAINFO* | GOPROXY | GOSUMDB | GONOSUMDB | GOFLAGS | MAVEN_OPTS)
      settings+=("$name=${!name}") ;;
    esac
  done
  env -i "${settings[@]}" HOME="$home" LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" sh -ec "cd '$home'; $*"
}

install() { inside /root "apt-get update -qq; apt-get install -y -qq --no-install-recommends $* >/dev/null"; }

inside /root "update-ca-certificates >/dev/null"
install make git
failed=0
for mode; do
  case $mode in
    java) install openjdk-17-jdk-headless maven ;;
    all) install openjdk-17-jdk-headless maven prometheus gcc libc6-dev ;;
    go) inside /root '! ls /usr/bin/java /usr/bin/mvn /usr/bin/gcc 2>/dev/null' ||
      { echo "error: $root has more than Go; give another folder" >&2; exit 1; } ;;
  esac
  for command in "make bench" "make test"; do
    [[ "${COMMANDS:-make bench,make test}" == *"$command"* ]] || continue
    home=/home/fresh
    rm -rf "${root:?}$home"
    mkdir -p "$root$home"
    git clone --quiet "$repository" "$root$home/kafka-bench"
    echo "== with $mode: $command"
    inside "$home" "git config --global --add safe.directory '*'; export GOFLAGS=\"\${GOFLAGS:-} -modcacherw\"
      cd kafka-bench; internal/project/tier/measured.sh $command" || failed=1
  done
done
exit $failed
