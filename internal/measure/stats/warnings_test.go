package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name string
		xs   []float64
		want []Warning
	}{
		{"none", []float64{10, 11, 9, 10.5, 9.5, 10.2, 9.9, 10.1}, nil},
		{"no runs", nil, nil},
		{"all equal", make([]float64, 10), nil},
		{"one run", []float64{10}, []Warning{{Kind: Few, Text: "1 run: an interval of the median needs 6"}}},
		{"five runs", []float64{10, 11, 9, 10.5, 9.5}, []Warning{{Kind: Few, Text: "5 runs: an interval of the median needs 6"}}},
		{
			"rising", []float64{10, 10.1, 10.3, 10.2, 10.4, 10.5, 10.6, 10.8},
			[]Warning{{Kind: Drift, Text: "rises over the campaign, by 3.9 % from its first half to its second (p = 0.0004): these are not repeats of one thing"}},
		},
		{
			"falling to nothing", []float64{7, 6, 5, 4, 3, 2, 1, 0},
			[]Warning{{Kind: Drift, Text: "falls over the campaign, by 73 % from its first half to its second (p = 5e-05): these are not repeats of one thing"}},
		},
		{
			"two groups", []float64{10, 20.1, 10.2, 9.9, 20, 20.3, 9.8, 10.1, 19.8, 10.3},
			[]Warning{{Kind: Bimodal, Text: "two groups: 6 runs, and 4 that are 100 % higher (runs 2, 5, 6 and 9)", At: []int{1, 4, 5, 8}}},
		},
		{
			"two groups of zero and more", []float64{0, 20, 21, 18, 2, 1, 22, 0.5, 19, 20.5},
			[]Warning{{Kind: Bimodal, Text: "two groups: 6 runs, and 4 that are 96 % lower (runs 1, 5, 6 and 8)", At: []int{0, 4, 5, 7}}},
		},
		{
			"one far off", []float64{10, 10.2, 9.9, 31, 10.1, 9.8},
			[]Warning{{Kind: Outlier, Text: "run 4 is 208 % above the median", At: []int{3}}},
		},
		{
			"two far off", []float64{10, 10.2, 9.9, 310, 10.1, 9.8, 10.05, 9.95, 2, 10.15},
			[]Warning{{Kind: Outlier, Text: "run 4 is 30 times above the median, run 9 is 80 % below the median", At: []int{3, 8}}},
		},
		{
			"one that lost records", []float64{0, 0, 0, 0, 0, 0, 0, 17, 0, 0},
			[]Warning{{Kind: Outlier, Text: "run 8 is above the median", At: []int{7}}},
		},
		{"a coarse count", []float64{0, 1, 0, 1, 1, 0, 2, 0, 1, 0}, nil},
	} {
		got := Warnings(c.xs)
		if !slices.EqualFunc(got, c.want, func(a, b Warning) bool {
			return a.Kind == b.Kind && a.Text == b.Text && slices.Equal(a.At, b.At)
		}) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestWarningsOfSoundRuns(t *testing.T) {
	campaigns := trials(2000)
	for i, kind := range noises {
		r := rand.New(rand.NewPCG(8, uint64(i)))
		for _, size := range []int{6, 10, 20} {
			kinds := map[string]int{}
			for range campaigns {
				for _, w := range Warnings(kind.sample(r, size)) {
					kinds[w.Kind]++
				}
			}
			t.Logf("%d campaigns of %d runs, %-12s: drift in %d, bimodal in %d, outliers in %d",
				campaigns, size, kind.name, kinds[Drift], kinds[Bimodal], kinds[Outlier])
			most := int(mostBy(doubt, campaigns) * float64(campaigns))
			if kinds[Few] != 0 || kinds[Drift] > most {
				t.Errorf("%d runs, %s: %v", size, kind.name, kinds)
			}
			if kind.name != "bimodal" && kinds[Bimodal] > most {
				t.Errorf("%d runs, %s: bimodal %d times", size, kind.name, kinds[Bimodal])
			}
			if kind.name == "normal" && kinds[Outlier] > most {
				t.Errorf("%d normal runs: outliers %d times", size, kinds[Outlier])
			}
			if kind.name == "bimodal" && size == 20 && kinds[Bimodal] < campaigns*9/10 {
				t.Errorf("%d runs of two modes: only %d of %d are seen", size, kinds[Bimodal], campaigns)
			}
		}
	}
}

func TestTrendCountsEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 4), func(i int) float64 { return float64(i) }), 1, 6).Draw(t, "xs")
		rising := func(xs []float64) (s int) {
			for i := range xs {
				for j := range i {
					if xs[i] > xs[j] {
						s++
					} else if xs[i] < xs[j] {
						s--
					}
				}
			}
			return s
		}
		far, orders := 0, 0
		var permute func(xs []float64, k int)
		permute = func(order []float64, k int) {
			if k == len(order) {
				orders++
				if abs(rising(order)) >= abs(rising(xs)) {
					far++
				}
			}
			for i := k; i < len(order); i++ {
				order[k], order[i] = order[i], order[k]
				permute(order, k+1)
				order[k], order[i] = order[i], order[k]
			}
		}
		permute(slices.Clone(xs), 0)
		if s, p := trend(xs); s != rising(xs) || !near(p, float64(far)/float64(orders), 1e-9) {
			t.Fatalf("s %d and p %v, want %d and %d/%d", s, p, rising(xs), far, orders)
		}
	})
}

// At exactLimit, the approximation continues the exact distribution.
func TestTrendOfManyValues(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 9))
	for range trials(20) {
		xs := noises[3].sample(r, exactLimit+1)
		for i := range xs {
			xs[i] += float64(i) / 40
		}
		_, approximate := trend(xs)
		_, exact := trend(xs[:exactLimit])
		if math.Abs(approximate-exact) > 0.1 {
			t.Errorf("p is %v with one value more, and %v without", approximate, exact)
		}
	}
}

// The values are from diptest 0.12.
func TestDip(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.05},
		{[]float64{1, 1.1, 1.2, 1.3, 1.4, 8, 8.1, 8.2, 8.3, 8.4}, 0.235714285714286},
		{[]float64{0.625, 0.897, 0.776, 0.225, 0.3, 0.874, 0.00527, 0.821}, 0.1015625},
		{[]float64{5.02, 5.19, -1.27, 0.271, 0.157, 6.88, 5.42, 5.89, 6.11, 6.06, 4.77, 6.08}, 0.0931084437086093},
		{[]float64{15.1, 0.0453, 5.58, 1.27, 0.277, 54.6, 4.59, 0.0908, 1.16}, 0.0988027302226698},
		{[]float64{0.323, 0.15, 0.816, 0.379, 0.979, 0.59, 0.605, 0.638}, 0.0987827715355805},
		{[]float64{4.89, 1.26, 5.56, -0.327, 6.65, -0.25, 6.67, -0.428, 7.05, 0.353, 6.58, 4.71}, 0.139889061891787},
		{[]float64{2, 0.0342, 0.0171, 0.544, 0.165, 1.39, 89.1, 0.189, 0.287}, 0.0938845822566753},
		{[]float64{0.684, 0.355, 0.519, 0.765, 0.909, 0.151, 0.933, 0.00518}, 0.08},
		{[]float64{5.84, 5.02, -1.75, 5.46, 5.95, 0.779, 5.37, 4.72, 7.26, 5.85, -0.0658, -0.274}, 0.101519835136528},
		{[]float64{0.249, 0.52, 0.326, 1.02, 0.472, 0.549, 0.0635, 0.199, 27.3}, 0.0891330891330891},
	} {
		if got := dip(c.xs); !near(got, c.want, 1e-9) {
			t.Errorf("dip of %v is %v, want %v", c.xs, got, c.want)
		}
	}
}

func TestDipIsOfTheShapeAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfNDistinct(rapid.IntRange(-1000, 1000), 1, 30, rapid.ID).Draw(t, "xs")
		plain, mirrored := make([]float64, len(xs)), make([]float64, len(xs))
		for i, x := range xs {
			plain[i], mirrored[i] = float64(x), 17-3*float64(x)
		}
		d := dip(plain)
		if n := float64(len(xs)); d < 1/(2*n)-1e-9 || d > max(0.25, 1/(2*n)) {
			t.Errorf("dip of %v is %v", xs, d)
		}
		if m := dip(mirrored); !near(d, m, 1e-9) {
			t.Errorf("dip of %v is %v, mirrored %v", xs, d, m)
		}
	})
}

// One sample in a hundred exceeds the limits.
func TestLimits(t *testing.T) {
	const samples = 4000
	r := rand.New(rand.NewPCG(42, 10))
	for _, n := range []int{5, 7, 8, 10, 17, 30, 75} {
		dips, far := 0, 0
		uniform := make([]float64, n)
		for range samples {
			for i := range uniform {
				uniform[i] = r.Float64()
			}
			if dip(uniform) > dipLimit(n) {
				dips++
			}
			if len(farOff(noises[0].sample(r, n))) > 0 {
				far++
			}
		}
		for what, count := range map[string]int{"dips": dips, "outliers": far} {
			if share := float64(count) / samples; share > mostBy(doubt, samples) || share < doubt/3 {
				t.Errorf("%d values: %s in a share of %v, want %v", n, what, share, doubt)
			}
		}
	}
}
