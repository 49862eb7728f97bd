//go:build proof

package proof_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// controlPlane is the machine with etcd, the API server, the controllers and the scheduler; and
// with Kafka and the coordinator, which are outside of Kubernetes.
type controlPlane struct {
	*machine
	programs   string
	kubeconfig string // of an administrator: everything here acts as one
	home       string // for caches of kubectl and helm
}

// startControlPlane returns when the API server is ready.
func startControlPlane(t *testing.T, programs, logs string) *controlPlane {
	c := &controlPlane{machine: boot(t, "control", 1, logs), programs: programs, home: t.TempDir()}
	c.lead(t)
	c.kubeconfig = filepath.Join(c.home, "kubeconfig")
	token := rand.Text()
	account := c.home + "/account.key"
	for name, content := range map[string]string{
		c.kubeconfig:          fmt.Sprintf(kubeconfig, c.address(), token),
		c.home + "/users.csv": token + ",admin,admin,system:masters\n",
		account:               newAccountKey(t),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.start(t, "etcd", "--data-dir=/var/lib/etcd", "--log-level=warn")
	c.start(t, programs+"/kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--cert-dir=/run/kubernetes",
		"--bind-address="+c.address(), "--service-cluster-ip-range=10.215.0.0/24",
		"--token-auth-file="+c.home+"/users.csv", "--authorization-mode=RBAC",
		"--service-account-issuer=https://"+c.address()+":6443",
		"--service-account-key-file="+account, "--service-account-signing-key-file="+account,
		"--kubelet-preferred-address-types=InternalIP") // there is no DNS
	c.start(t, programs+"/kube-controller-manager", "--kubeconfig="+c.kubeconfig, "--leader-elect=false",
		"--service-account-private-key-file="+account, "--cert-dir=/run/kubernetes", "--flex-volume-plugin-dir=/run/volumes")
	c.start(t, programs+"/kube-scheduler", "--kubeconfig="+c.kubeconfig, "--leader-elect=false")
	await(t, 2*time.Minute, "the API server is ready", func() bool {
		_, err := c.try("kubectl", "get", "--raw", "/readyz")
		return err == nil
	})
	return c
}

// kubeconfig trusts any certificate, because the API server signs its own.
const kubeconfig = `
apiVersion: v1
kind: Config
current-context: proof
clusters: [{name: proof, cluster: {server: "https://%s:6443", insecure-skip-tls-verify: true}}]
users: [{name: proof, user: {token: %s}}]
contexts: [{name: proof, context: {cluster: proof, user: proof}}]
`

// newAccountKey makes the key that signs tokens of service accounts.
func newAccountKey(t *testing.T) string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

func (c *controlPlane) client(program string, arguments ...string) *exec.Cmd {
	cmd := c.command(append([]string{filepath.Join(c.programs, program)}, arguments...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME="+c.home)
	return cmd
}

// try runs a command of kubectl or helm. The error has what it prints to standard error.
func (c *controlPlane) try(program string, arguments ...string) (stdout string, err error) {
	cmd := c.client(program, arguments...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(arguments, " "), err, errors.Bytes())
	}
	return string(out), nil
}

func (c *controlPlane) kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := c.try("kubectl", arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// get reads the objects that the arguments name, with kubectl get.
func (c *controlPlane) get(t *testing.T, into any, arguments ...string) {
	t.Helper()
	text := c.kubectl(t, append([]string{"get", "-o", "json"}, arguments...)...)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}
