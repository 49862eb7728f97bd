package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// Door is an open address with its access control.
type Door struct {
	address  Address
	listener net.Listener
	loopback bool   // only this machine reaches it
	token    string // "" on a loopback address
	port     string // in use
}

// Open opens an address. An address that is not loopback gets a token.
func Open(ctx context.Context, a Address) (*Door, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", a.String())
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s: %w", a, errTaken)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	return newDoor(a, l), nil
}

// newDoor checks where l listens, because a name like localhost may resolve to any address.
func newDoor(a Address, l net.Listener) *Door {
	at := l.Addr().(*net.TCPAddr) // the type for "tcp"
	d := &Door{address: a, listener: l, port: strconv.Itoa(at.Port), loopback: at.IP.IsLoopback()}
	if !d.loopback {
		d.token = newToken()
	}
	return d
}

func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// URL returns the address to open in a browser, with the token if there is one.
func (d *Door) URL() string {
	url := d.address.url(d.port)
	if d.token != "" {
		url += "?token=" + d.token
	}
	return url
}

// Warning returns a warning of an address that is not loopback; else "".
func (d *Door) Warning() string {
	if d.token == "" {
		return ""
	}
	return "other machines can reach the page: anyone who has its address sees the runs, and the connection is " +
		"not encrypted"
}

// An answer may take long: a comparison reads whole runs.
const (
	headTimeout   = 5 * time.Second
	answerTimeout = 2 * time.Minute
	idleTimeout   = time.Minute
	lastAnswer    = time.Second // for answers that are not complete at the end
	headBytes     = 16 << 10
)

// Serve answers with h, behind Guard, until ctx ends. It then waits up to a second for answers that
// are not complete, such as the last scrape of a run.
func (d *Door) Serve(ctx context.Context, h http.Handler) error { return d.serve(ctx, d.Guard(h)) }

func (d *Door) serve(ctx context.Context, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: headBytes, BaseContext: func(net.Listener) context.Context { return ctx }, // ends the tabs
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(d.listener) }()
	select {
	case <-ctx.Done():
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswer)
		defer cancel()
		err := server.Shutdown(last)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	case err := <-served:
		return fmt.Errorf("serving pages: %w", err)
	}
}

// Close closes a door that was not served.
func (d *Door) Close() error { return d.listener.Close() }

// policy allows content only of the page's own server. Inline scripts do not run.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// Guard answers only authorized requests, and sets the security headers.
func (d *Door) Guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		switch {
		case !d.address.names(r.Host):
			http.Error(w, "This server does not have that name. Open the address that kafka-bench printed.",
				http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Only GET and HEAD are answered.", http.StatusMethodNotAllowed)
		case d.token == "":
			h.ServeHTTP(w, r)
		case r.URL.Path == "/" && r.URL.Query().Has("token"):
			d.admit(w, r)
		case d.known(r):
			h.ServeHTTP(w, r)
		default:
			http.Error(w, "This page needs the token. Open the whole address that kafka-bench printed.", http.StatusForbidden)
		}
	})
}

func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// The cookie's name contains the port: cookies belong to a host, which may have several pages.
func (d *Door) cookie() string { return "kafka_bench_" + d.port }

// The cookie is SameSite=Strict, so a redirect would lose it after a click on another site.
// Therefore admit answers with a page that loads the next page.
func (d *Door) admit(w http.ResponseWriter, r *http.Request) {
	if !same(r.URL.Query().Get("token"), d.token) {
		http.Error(w, "The token is wrong: it is of another run. Open the address that kafka-bench printed last.",
			http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: d.cookie(), Value: d.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Refresh", "0; url=/")
	fmt.Fprint(w, `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">`+
		`<title>Kafka Bench</title><p><a href="/">Go on to the page</a></p></html>`)
}

func (d *Door) known(r *http.Request) bool {
	c, err := r.Cookie(d.cookie())
	return err == nil && same(c.Value, d.token)
}

// same compares secrets in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
