package probe

import (
	"math"
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestHostIsRead(t *testing.T) {
	before, err := ReadHost()
	if err != nil {
		t.Fatal(err)
	}
	const sent = 1 << 20
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if conn, err := net.Dial("tcp", listener.Addr().String()); err == nil {
			_, _ = conn.Write(make([]byte, sent))
			conn.Close()
		}
	}()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for n, b := 0, make([]byte, sent); n < sent; {
		got, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		n += got
	}
	after, err := ReadHost()
	if err != nil {
		t.Fatal(err)
	}
	if got := after.Networks["lo"].SentBytes - before.Networks["lo"].SentBytes; got < sent {
		t.Errorf("loopback sent %d bytes, want at least %d", got, sent)
	}
	if after.PageCacheBytes == nil || after.DirtyBytes == nil || DirtyBytes() == nil {
		t.Errorf("the page cache is not known: %+v", after)
	}
	for name, d := range after.Disks {
		if b := before.Disks[name]; d.WrittenBytes < b.WrittenBytes || d.BusyMs < b.BusyMs {
			t.Errorf("%s went from %+v to %+v", name, b, d)
		}
	}
}

func TestDiskOfAFolder(t *testing.T) {
	if name := DiskOf(filepath.Join(t.TempDir(), "nowhere")); name != "" {
		t.Errorf("a folder that is not there is on %s", name)
	}
	host, err := ReadHost()
	if err != nil {
		t.Fatal(err)
	}
	if name := DiskOf(t.TempDir()); name != "" {
		if _, known := host.Disks[name]; !known {
			t.Errorf("the temporary folder is on %s, which is no disk of %v", name, host.Disks)
		}
	}
}

func TestAllowedCores(t *testing.T) {
	cores := AllowedCores(os.Getpid())
	if cores == nil || *cores <= 0 || *cores > 4096 {
		t.Errorf("this process may use %v cores", cores)
	}
	if gone := AllowedCores(math.MaxInt32); gone != nil {
		t.Errorf("a process that is not there may use %v cores", *gone)
	}
}

func TestQuota(t *testing.T) {
	for _, test := range []struct {
		limit, period string
		want          float64
	}{
		{"25000", "100000", 0.25}, {"300000", "100000", 3}, {"max", "100000", math.Inf(1)}, {"-1", "100000", math.Inf(1)}, {"", "", math.Inf(1)},
	} {
		if got := share(test.limit, test.period); got != test.want {
			t.Errorf("%q of %q is %v cores, want %v", test.limit, test.period, got, test.want)
		}
	}
}
