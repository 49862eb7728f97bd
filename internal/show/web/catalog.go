package web

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

type catalog struct {
	runs, campaigns []entry           // latest first
	known           map[string]entry  // of runs, by folder
	of              map[string]string // the folder of a run's campaign, by the run's folder
	named           map[string]int    // number of runs, by name
	category        map[string]string // by the run's name
}

func (l *Library) catalog() (*catalog, error) {
	runs, campaigns, err := l.list()
	if err != nil {
		return nil, err
	}
	c := &catalog{
		runs: runs, campaigns: campaigns, known: map[string]entry{}, of: map[string]string{}, named: map[string]int{},
	}
	for _, run := range runs {
		c.known[run.folder] = run
		c.named[run.name]++
	}
	c.category = categoriesOf(c.named)
	for _, campaign := range campaigns {
		file, err := l.campaignFile(campaign)
		if err != nil {
			continue // its row has the error
		}
		for i := range file.Runs {
			if file.Runs[i].Dir != "" {
				c.of[file.RunDir(campaign.folder, i)] = campaign.folder
			}
		}
	}
	return c, nil
}

// The category of a name is its first word if other names begin with it, as in sweep-acks and
// sweep-payload, and else the name.
func categoriesOf(named map[string]int) map[string]string {
	shared := map[string]int{}
	first := func(name string) string {
		word, _, _ := strings.Cut(name, "-")
		return word
	}
	for name := range named {
		shared[first(name)]++
	}
	categories := map[string]string{}
	for name := range named {
		categories[name] = name
		if word := first(name); shared[word] > 1 {
			categories[name] = word
		}
	}
	return categories
}

type card struct {
	Name            string
	Runs, Scenarios int
	Latest          time.Time
	Href            string
}

// mostCards bounds the categories of a page. It shows the categories with the most runs.
const mostCards = 24

func (c *catalog) cards(l links) (cards []card, left int) {
	byName := map[string]*card{}
	for _, run := range c.runs {
		name := c.category[run.name]
		if byName[name] == nil {
			byName[name] = &card{Name: name, Latest: run.at, Href: l.category(name)} // the latest comes first
		}
		byName[name].Runs++
	}
	for name := range c.named {
		byName[c.category[name]].Scenarios++
	}
	for _, card := range byName {
		cards = append(cards, *card)
	}
	slices.SortFunc(cards, func(a, b card) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Name, b.Name))
	})
	left = max(0, len(cards)-mostCards)
	cards = cards[:len(cards)-left]
	slices.SortFunc(cards, func(a, b card) int { return cmp.Compare(a.Name, b.Name) })
	return cards, left
}

type group struct {
	campaign *entry
	runs     []entry // latest first
}

// groups are ordered by the time of their latest run, or of the campaign if it has no run.
func (c *catalog) groups() []group {
	var groups []group
	latest := func(g group) string {
		if len(g.runs) > 0 {
			return g.runs[0].folder
		}
		return g.campaign.folder
	}
	of := map[string][]entry{}
	for _, run := range c.runs {
		if campaign, some := c.of[run.folder]; some {
			of[campaign] = append(of[campaign], run)
		} else {
			groups = append(groups, group{runs: []entry{run}})
		}
	}
	for i, campaign := range c.campaigns {
		groups = append(groups, group{campaign: &c.campaigns[i], runs: of[campaign.folder]})
	}
	slices.SortStableFunc(groups, func(a, b group) int { return strings.Compare(latest(b), latest(a)) })
	return groups
}
