package promrun

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v4"
)

func exported(t *testing.T) (names, histograms []string) {
	t.Helper()
	c := New()
	descs := make(chan *prometheus.Desc, 100)
	c.Describe(descs)
	close(descs)
	name := regexp.MustCompile(`fqName: "([^"]+)"`)
	for d := range descs {
		names = append(names, name.FindStringSubmatch(d.String())[1])
		if slices.Contains(c.times[:], d) {
			histograms = append(histograms, names[len(names)-1])
		}
	}
	return names, histograms
}

var metricName = regexp.MustCompile(`\bkafka_bench_\w+`)

// The dashboard queries all exported metrics.
func TestDashboardAsksForWhatIsExported(t *testing.T) {
	d := readDashboard(t)
	names, histograms := exported(t)
	asked := map[string]bool{}
	for _, v := range d.Templating.List {
		for _, name := range metricName.FindAllString(v.Definition, -1) {
			if !slices.Contains(names, name) {
				t.Errorf("variable %s asks for %s, which is not exported", v.Name, name)
			}
		}
	}
	for _, q := range d.queries() {
		found := metricName.FindAllString(q.expr, -1)
		if len(found) == 0 {
			t.Errorf("panel %q asks for no metric: %s", q.panel, q.expr)
		}
		for _, name := range found {
			name = strings.TrimSuffix(name, "_bucket")
			asked[name] = true
			if !slices.Contains(names, name) {
				t.Errorf("panel %q asks for %s, which is not exported", q.panel, name)
			}
			if slices.Contains(histograms, name) {
				wantBothKinds(t, q, name)
			}
		}
	}
	for _, name := range names {
		if !asked[name] && !slices.Contains(histograms, name) {
			t.Errorf("no panel asks for %s", name)
		}
	}
}

// Prometheus may scrape both the agents and their coordinator. Each query asks for the series of
// either the run or its agents.
func TestDashboardCountsNoRecordTwice(t *testing.T) {
	d := readDashboard(t)
	for _, q := range d.queries() {
		of := `agent=~"$figures"}`
		if strings.Contains(q.expr, prefix+"agent_") {
			of = `agent="$agent"}`
		}
		if strings.Count(q.expr, of) != strings.Count(q.expr, prefix) {
			t.Errorf("panel %q does not ask for series with %s: %s", q.panel, of, q.expr)
		}
	}
}

func wantBothKinds(t *testing.T, q query, name string) {
	t.Helper()
	native, classic, both := strings.Cut(q.expr, " or ")
	as := strings.NewReplacer(name+"_bucket", name, "(run, le)", "(run)").Replace(classic)
	if !both || strings.Contains(native, "_bucket") || as != native {
		t.Errorf("panel %q does not ask for the native or the classic histogram: %s", q.panel, q.expr)
	}
}

func TestDashboardIsWellFormed(t *testing.T) {
	d := readDashboard(t)
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 36 {
		t.Errorf("the dashboard is %q %q, schema %d", d.UID, d.Title, d.SchemaVersion)
	}
	ids := map[int]bool{}
	covered := map[string]string{}
	var rows []string
	for _, p := range d.Panels {
		if p.Title == "" || ids[p.ID] || p.ID == 0 {
			t.Errorf("panel %q has the ID %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			rows = append(rows, p.Title)
		}
		g := p.GridPos
		if g.H < 1 || g.W < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("panel %q is at %+v, outside of the grid", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				place := fmt.Sprint(x, " ", y)
				if other := covered[place]; other != "" {
					t.Fatalf("panel %q covers %q", p.Title, other)
				}
				covered[place] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.Description == "" || p.Datasource.UID != "${datasource}" {
			t.Errorf("panel %q has %d queries, the description %q and the data source %q", p.Title, len(p.Targets),
				p.Description, p.Datasource.UID)
		}
		if p.Type == "timeseries" && p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("panel %q has no unit", p.Title)
		}
		for n, target := range p.Targets {
			if want := string(rune('A' + n)); target.RefID != want {
				t.Errorf("query %d of panel %q is %q, want %q", n, p.Title, target.RefID, want)
			}
		}
	}
	want := []string{"Load and delivery", "Latency", "Lag and backpressure", "Queue", "Resources", "Agent $agent"}
	if !slices.Equal(rows, want) {
		t.Errorf("the rows are %q, want %q", rows, want)
	}
}

func TestProvisioning(t *testing.T) {
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name, UID, Type, Access, URL string
			JSONData                     struct {
				TimeInterval string `yaml:"timeInterval"`
			} `yaml:"jsonData"`
		}
	}
	var boards struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Type string
			Options    struct{ Path string }
		}
	}
	var scrape struct {
		Global struct {
			ScrapeInterval string `yaml:"scrape_interval"`
		}
	}
	must(t, yaml.Unmarshal(deployed(t, "grafana/provisioning/datasources/prometheus.yml"), &sources))
	must(t, yaml.Unmarshal(deployed(t, "grafana/provisioning/dashboards/kafka-bench.yml"), &boards))
	must(t, yaml.Unmarshal(deployed(t, "prometheus/prometheus.yml"), &scrape))
	if sources.APIVersion != 1 || len(sources.Datasources) != 1 || sources.Datasources[0].Type != "prometheus" ||
		sources.Datasources[0].JSONData.TimeInterval != scrape.Global.ScrapeInterval || scrape.Global.ScrapeInterval == "" {
		t.Errorf("the data sources are %+v, and Prometheus scrapes each %q", sources, scrape.Global.ScrapeInterval)
	}
	if boards.APIVersion != 1 || len(boards.Providers) != 1 || boards.Providers[0].Type != "file" ||
		boards.Providers[0].Options.Path == "" {
		t.Errorf("the providers are %+v", boards)
	}
}
