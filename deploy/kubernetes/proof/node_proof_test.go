//go:build proof

package proof_test

import (
	"fmt"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
)

// images maps the name that an image gets to the file that a node imports; the file has the tag.
type images map[string]string

// registry is in the names of images. It does not exist: nodes have all images.
const registry = "registry.example/"

// startNodes starts n nodes with the known images, and returns when all are ready.
func startNodes(t *testing.T, c *controlPlane, n int, known images, logs string) []*machine {
	var nodes []*machine
	for i := range n {
		node := boot(t, fmt.Sprint("node-", i), 2+i, logs)
		node.join(t, c.machine)
		nodes = append(nodes, node)
	}
	for _, node := range nodes {
		for _, other := range nodes {
			if other != node {
				node.run(t, "ip", "route", "add", other.pods(), "via", other.address())
			}
		}
		c.run(t, "ip", "route", "add", node.pods(), "via", node.address())
		startNode(t, c, node, known)
	}
	await(t, 2*time.Minute, "all nodes are ready", func() bool {
		var list core.NodeList
		c.get(t, &list, "nodes")
		ready := 0
		for _, node := range list.Items {
			for _, condition := range node.Status.Conditions {
				if condition.Type == core.NodeReady && condition.Status == core.ConditionTrue {
					ready++
				}
			}
		}
		return ready == n
	})
	return nodes
}

func startNode(t *testing.T, c *controlPlane, node *machine, known images) {
	node.write(t, "/run/containerd.toml", containerdConfig)
	node.write(t, "/run/cni/pods.conflist", fmt.Sprintf(podNetwork, node.pods()))
	node.write(t, "/run/kubelet.yaml", fmt.Sprintf(kubeletConfig, node.cgroups()))
	node.start(t, "containerd", "--config=/run/containerd.toml")
	await(t, time.Minute, "containerd is up", func() bool { return node.command("ctr", "version").Run() == nil })
	for name, file := range known {
		node.run(t, "ctr", "--namespace=k8s.io", "images", "import", "--base-name="+registry+name, file)
	}
	node.start(t, c.programs+"/kubelet", "--config=/run/kubelet.yaml", "--kubeconfig="+c.kubeconfig,
		"--hostname-override="+node.name, "--node-ip="+node.address())
}

const containerdConfig = `
version = 2
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd-opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "` + registry + `pause:proof"
  restrict_oom_score_adj = true # for a root without CAP_SYS_RESOURCE
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "/run/cni"
`

// podNetwork joins the pods of a node by a bridge. Their addresses are routed, without translation.
const podNetwork = `{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [{
    "type": "bridge", "bridge": "pods", "isGateway": true,
    "ipam": {
      "type": "host-local", "dataDir": "/run/cni-addresses",
      "ranges": [[{"subnet": "%s"}]], "routes": [{"dst": "0.0.0.0/0"}]
    }
  }]
}`

// kubeletConfig lets anybody ask the kubelet, which only this computer reaches.
const kubeletConfig = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: %s
failCgroupV1: false
failSwapOn: false
evictionHard:
  {memory.available: 0%%, nodefs.available: 0%%, nodefs.inodesFree: 0%%, imagefs.available: 0%%, imagefs.inodesFree: 0%%}
imageGCHighThresholdPercent: 100
makeIPTablesUtilChains: false
resolvConf: ""
volumePluginDir: /run/volumes
`
