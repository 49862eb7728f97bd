package web

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const metricsPath = "/metrics"

type scrapes struct {
	door    *Door
	token   string // that a scrape must have; "" is none
	handler http.Handler
	ended   atomic.Bool   // the collector is complete
	done    chan struct{} // has a value after the answer to a scrape that began with ended set
}

func newScrapes(d *Door, token string, c prometheus.Collector) (*scrapes, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(c); err != nil {
		return nil, err
	}
	return &scrapes{
		door: d, token: token, done: make(chan struct{}, 1),
		handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
	}, nil
}

func (s *scrapes) url() string {
	return strings.TrimSuffix(s.door.address.url(s.door.port), "/") + metricsPath
}

// ServeHTTP answers authorized scrapes.
func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	bearer, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case s.door.loopback && !s.door.address.names(r.Host):
		http.Error(w, "This server does not have that name.", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Only GET and HEAD are answered.", http.StatusMethodNotAllowed)
	case s.token != "" && (!given || !same(bearer, s.token)):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "Scrapes need the token of --metrics-token-file.", http.StatusUnauthorized)
	case r.URL.Path != metricsPath:
		http.NotFound(w, r)
	default:
		last := s.ended.Load()
		s.handler.ServeHTTP(w, r)
		if last {
			signal(s.done)
		}
	}
}
