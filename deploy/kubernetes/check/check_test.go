// Package check_test checks the chart against Kubernetes' schemas and the rules for agents. It needs no
// network and no cluster.
package check_test

import (
	"bytes"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/validator"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

const release = "kafka-bench"

func chart(values string) (string, error) {
	c, err := loader.Load("../chart")
	if err != nil {
		return "", err
	}
	v, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return "", err
	}
	all, err := chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: release, IsInstall: true}, nil)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return "", err
	}
	return strings.Join(slices.Sorted(maps.Values(files)), "\n---\n"), nil
}

func example(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	const first = "# values.yaml"
	_, block, found := strings.Cut(string(page), "```yaml\n"+first)
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatalf("docs/machines.md has no block of YAML that begins with %q", first)
	}
	return block
}

// everything sets each value to something other than its default.
const everything = `
image: {repository: other/kafka-bench, tag: v2}
imagePullSecrets: [{name: pull}]
session: tuesday
agents: 5
brokers: a:1,b:2
clientPropertiesSecret: other-client
keySecret: other-key
resources: {cpu: 500m, memory: 512Mi}
activeDeadlineSeconds: 1000000
metrics: {port: 9999, tokenSecret: other-metrics}
clockPort: 9500
oneAgentPerNode: false
nodeSelector: {pool: load}
tolerations: [{key: load, operator: Exists}]
`

func variants(t *testing.T) map[string]string {
	t.Helper()
	values := example(t)
	all := make(map[string]string)
	for name, values := range map[string]string{
		"chart": values, "chart with metrics": values + "\nmetrics: {port: 9464}\n", "chart with everything": everything,
	} {
		var err error
		if all[name], err = chart(values); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}

type objects struct {
	Job    batch.Job
	Policy networking.NetworkPolicy
}

var separator = regexp.MustCompile(`(?m)^---\n`)

func parse(t *testing.T, text string) (o objects) {
	t.Helper()
	kinds := make(map[string]int)
	for _, document := range separator.Split(text, -1) {
		var head struct{ Kind string }
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatal(err)
		}
		kinds[head.Kind]++
		var into any = &o.Job
		if head.Kind == "NetworkPolicy" {
			into = &o.Policy
		}
		if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
	}
	if len(kinds) != 2 || kinds["Job"] != 1 || kinds["NetworkPolicy"] != 1 {
		t.Fatalf("documents %v, want a Job and a NetworkPolicy", kinds)
	}
	return o
}

func validate(t *testing.T, text string) []validator.Result {
	t.Helper()
	v, err := validator.New([]string{"schemas/{{.ResourceKind}}{{.KindSuffix}}.json"}, validator.Opts{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return v.Validate("rendered", io.NopCloser(strings.NewReader(text)))
}

func TestSchemas(t *testing.T) {
	for name, text := range variants(t) {
		results := validate(t, text)
		if len(results) != 2 {
			t.Errorf("%s: %d documents were checked, want 2", name, len(results))
		}
		for _, r := range results {
			if r.Status != validator.Valid {
				t.Errorf("%s: %v in\n%s", name, r.Err, r.Resource.Bytes)
			}
		}
	}
}

func TestSchemasRefuse(t *testing.T) {
	valid := variants(t)["chart"]
	for from, to := range map[string]string{
		"restartPolicy:":     "restartPolicies:",
		"completions: 3":     "completions: three",
		"maxFailedIndexes: ": "maxFailedIndex: ",
		"podSelector:":       "podSelectors:",
		"topologyKey:":       "topology:",
	} {
		refused := false
		for _, r := range validate(t, strings.Replace(valid, from, to, 1)) {
			refused = refused || r.Status == validator.Invalid
		}
		if !refused || !strings.Contains(valid, from) {
			t.Errorf("%q in place of %q is valid", to, from)
		}
	}
}

func written(t *testing.T, o objects) []byte {
	t.Helper()
	text, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRules(t *testing.T) {
	for name, text := range variants(t) {
		o := parse(t, text)
		hold := func(rule string, holds bool) {
			t.Helper()
			if !holds {
				t.Errorf("%s: want %s in\n%s", name, rule, written(t, o))
			}
		}
		job, pod := o.Job.Spec, o.Job.Spec.Template.Spec
		hold("an index for each agent", is(job.CompletionMode, batch.IndexedCompletion) && reflect.DeepEqual(job.Completions, job.Parallelism))
		hold("no second try", is(job.BackoffLimitPerIndex, 0) && is(job.MaxFailedIndexes, 0) && pod.RestartPolicy == core.RestartPolicyNever)
		hold("no two pods of one index", is(job.PodReplacementPolicy, batch.Failed))
		hold("a deadline", job.ActiveDeadlineSeconds != nil && *job.ActiveDeadlineSeconds > 0)
		hold("a grace of 60 s", is(pod.TerminationGracePeriodSeconds, 60))

		hold("no token", is(pod.AutomountServiceAccountToken, false) && pod.ServiceAccountName == "")
		hold("nothing of the host", !pod.HostNetwork && !pod.HostPID && !pod.HostIPC)
		user := pod.SecurityContext
		hold("the user 65532", is(user.RunAsUser, 65532) && is(user.RunAsGroup, 65532) && is(user.FSGroup, 65532) && is(user.RunAsNonRoot, true))
		hold("the runtime's seccomp profile", user.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault)
		hold("one container", len(pod.Containers) == 1 && len(pod.InitContainers) == 0)
		agent := pod.Containers[0]
		inside := agent.SecurityContext
		hold("no capabilities", slices.Equal(inside.Capabilities.Drop, []core.Capability{"ALL"}) && len(inside.Capabilities.Add) == 0)
		hold("no way to more rights", is(inside.AllowPrivilegeEscalation, false) && inside.Privileged == nil && inside.RunAsUser == nil)
		hold("a read-only root", is(inside.ReadOnlyRootFilesystem, true))
		hold("requests equal to limits, of CPU and memory",
			reflect.DeepEqual(agent.Resources.Requests, agent.Resources.Limits) && !agent.Resources.Limits.Cpu().IsZero() && !agent.Resources.Limits.Memory().IsZero())

		for _, v := range pod.Volumes {
			hold("only Secrets and an emptyDir with a limit", v.Secret != nil || v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil)
			mounted := slices.ContainsFunc(agent.VolumeMounts, func(m core.VolumeMount) bool {
				return m.Name == v.Name && m.ReadOnly == (v.Secret != nil)
			})
			hold("each volume mounted, and Secrets only to read", mounted)
		}
		hold("no secret in the environment", !slices.ContainsFunc(agent.Env, func(e core.EnvVar) bool { return e.ValueFrom != nil }))

		labels := o.Job.Spec.Template.Labels
		hold("one set of labels", len(labels) == 2 && reflect.DeepEqual(labels, o.Policy.Spec.PodSelector.MatchLabels))
		apart := pod.Affinity.PodAntiAffinity
		terms := apart.RequiredDuringSchedulingIgnoredDuringExecution
		for _, p := range apart.PreferredDuringSchedulingIgnoredDuringExecution {
			terms = append(terms, p.PodAffinityTerm)
		}
		hold("agents on different hosts", len(terms) == 1 && terms[0].TopologyKey == "kubernetes.io/hostname" && reflect.DeepEqual(terms[0].LabelSelector.MatchLabels, labels))
		echo := o.Policy.Spec.Ingress[0]
		hold("UDP between agents", len(echo.Ports) == 1 && is(echo.Ports[0].Protocol, core.ProtocolUDP) && len(echo.From) == 1 && reflect.DeepEqual(echo.From[0].PodSelector.MatchLabels, labels))
	}
}

func is[T comparable](field *T, want T) bool { return field != nil && *field == want }

func TestValues(t *testing.T) {
	text, err := chart(everything)
	if err != nil {
		t.Fatal(err)
	}
	o := parse(t, text)
	pod := o.Job.Spec.Template.Spec
	agent := pod.Containers[0]
	wantArgs := []string{
		"agent", "--session=$(SESSION)", "--of=$(AGENTS)", "--brokers=$(BROKERS)",
		"--command-config=/etc/kafka-bench/client/client.properties", "--key=/etc/kafka-bench/key/session.key", "--spool=/tmp",
		"--clock-addr=:9500", "--metrics=0.0.0.0:9999", "--metrics-token-file=/etc/kafka-bench/metrics/token",
	}
	wantEnv := []core.EnvVar{{Name: "SESSION", Value: "tuesday"}, {Name: "AGENTS", Value: "5"}, {Name: "BROKERS", Value: "a:1,b:2"}}
	if !slices.Equal(agent.Args, wantArgs) || !slices.Equal(agent.Env, wantEnv) {
		t.Errorf("args %q, env %v", agent.Args, agent.Env)
	}
	var secrets []string
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			secrets = append(secrets, v.Secret.SecretName)
		}
	}
	switch annotations := o.Job.Spec.Template.Annotations; {
	case agent.Image != "other/kafka-bench:v2", !is(o.Job.Spec.Completions, 5), !is(o.Job.Spec.ActiveDeadlineSeconds, 1000000),
		agent.Resources.Limits.Cpu().MilliValue() != 500, agent.Resources.Limits.Memory().Value() != 512<<20,
		pod.ImagePullSecrets[0].Name != "pull", pod.NodeSelector["pool"] != "load", pod.Tolerations[0].Key != "load",
		!slices.Equal(secrets, []string{"other-client", "other-key", "other-metrics"}),
		annotations["prometheus.io/scrape"] != "true", annotations["prometheus.io/port"] != "9999",
		o.Policy.Spec.Ingress[0].Ports[0].Port.IntValue() != 9500, o.Policy.Spec.Ingress[1].Ports[0].Port.IntValue() != 9999,
		len(pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) != 0:
		t.Errorf("a value is missing in\n%s", text)
	}
}

func TestChartRefuses(t *testing.T) {
	for values, place := range map[string]string{
		"agents: 3":                           "brokers",
		"{brokers: kafka}":                    "brokers",
		"{brokers: 'a:1', agents: 0}":         "agents",
		"{brokers: 'a:1', agent: 4}":          "agent",
		"{brokers: 'a:1', keySecret: ''}":     "keySecret",
		"{brokers: 'a:1', image: {tag: ''}}":  "tag",
		"{brokers: 'a:1', clockPort: 100000}": "clockPort",
	} {
		if text, err := chart(values); err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("values %s: error %v, want one that names %s; rendered\n%s", values, err, place, bytes.TrimSpace([]byte(text)))
		}
	}
}
