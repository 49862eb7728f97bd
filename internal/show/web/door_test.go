package web

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]struct {
		address  string
		loopback bool
	}{
		"127.0.0.1:0": {"127.0.0.1:0", true}, "localhost:80": {"localhost:80", true}, "[::1]:80": {"[::1]:80", true},
		"127.9.9.9:80": {"127.9.9.9:80", true}, ":80": {"0.0.0.0:80", false}, "192.0.2.1:80": {"192.0.2.1:80", false},
		"Bench.example:80": {"bench.example:80", false}, "localhost.example:80": {"localhost.example:80", false},
	} {
		if a, err := ParseAddress(text); err != nil || a.String() != want.address || a.Loopback() != want.loopback {
			t.Errorf("%s: %v, loopback %t, %v", text, a, a.Loopback(), err)
		}
	}
	for _, text := range []string{"", "8780", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:65536", "::1:80"} {
		if a, err := ParseAddress(text); err == nil || !strings.Contains(err.Error(), "write it as 127.0.0.1:8780") {
			t.Errorf("%q is %v, %v", text, a, err)
		}
	}
}

type listener struct {
	net.Listener
	at string
}

func (l listener) Addr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(l.at), Port: 8780} }

// Only the address that a name resolves to decides whether a token is needed.
func TestTokenGoesByWhereNamesLead(t *testing.T) {
	for _, name := range []string{"localhost", "bench.localhost", "bench.example"} {
		for at, loopback := range map[string]bool{"127.0.0.1": true, "::1": true, "192.0.2.1": false, "::": false} {
			d := newDoor(Address{host: name, port: "0"}, listener{at: at})
			if d.loopback != loopback || (d.token == "") != loopback || d.port != "8780" {
				t.Errorf("%s at %s: loopback %t, token %q, port %s", name, at, d.loopback, d.token, d.port)
			}
		}
	}
}

func doorAt(t *testing.T, address, token string) *Door {
	t.Helper()
	a, err := ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	return &Door{address: a, token: token, port: a.port, loopback: token == ""}
}

func knock(d *Door, method, host, path string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	d.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the page")) })).ServeHTTP(w, r)
	return w
}

// Another site's name may resolve to this address.
func TestHost(t *testing.T) {
	for address, hosts := range map[string]map[string]int{
		"127.0.0.1:8780": {
			"127.0.0.1:8780": 200, "localhost": 200, "[::1]:8780": 200, "127.0.0.1:9999": 200, "LOCALHOST:8780": 200,
			"evil.example": 421, "evil.example:8780": 421, "192.0.2.1:8780": 421, "localhost.evil.example": 421, "": 421,
		},
		"bench.example:8780": {"bench.example:8780": 403, "localhost:8780": 403, "evil.example:8780": 421, "192.0.2.1": 421},
		"0.0.0.0:8780":       {"192.0.2.1:8780": 403, "evil.example:8780": 421},
	} {
		token := ""
		if !strings.HasPrefix(address, "127") {
			token = newToken()
		}
		for host, want := range hosts {
			if w := knock(doorAt(t, address, token), http.MethodGet, host, "/"); w.Code != want {
				t.Errorf("%s asked as %q: %d, want %d", address, host, w.Code, want)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	d := doorAt(t, "127.0.0.1:8780", "")
	for method, want := range map[string]int{
		http.MethodGet: 200, http.MethodHead: 200, http.MethodPost: 405, http.MethodPut: 405, http.MethodDelete: 405,
		http.MethodOptions: 405, "FIND": 405,
	} {
		w := knock(d, method, "localhost", "/")
		if w.Code != want || want == 405 && w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, want %d", method, w.Code, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	open, closed := doorAt(t, "127.0.0.1:8780", ""), doorAt(t, "192.0.2.1:8780", newToken())
	for what, w := range map[string]*httptest.ResponseRecorder{
		"a page": knock(open, http.MethodGet, "localhost", "/"), "another host": knock(open, http.MethodGet, "evil.example", "/"),
		"another method": knock(open, http.MethodPost, "localhost", "/"), "no token": knock(closed, http.MethodGet, "192.0.2.1", "/"),
		"the token": knock(closed, http.MethodGet, "192.0.2.1", "/?token="+closed.token),
	} {
		h := w.Header()
		for _, rule := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "form-action 'self'",
			"base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(h.Get("Content-Security-Policy"), rule) {
				t.Errorf("%s: the policy has no %s", what, rule)
			}
		}
		if strings.Contains(h.Get("Content-Security-Policy"), "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Frame-Options") != "DENY" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", what, h)
		}
	}
}

func TestToken(t *testing.T) {
	d := doorAt(t, "192.0.2.1:8780", newToken())
	if url := d.URL(); url != "http://192.0.2.1:8780/?token="+d.token || len(d.token) != 32 || d.token == newToken() || d.Warning() == "" {
		t.Errorf("the address is %s", url)
	}
	if local := doorAt(t, "127.0.0.1:8780", ""); local.URL() != "http://127.0.0.1:8780/" || local.Warning() != "" {
		t.Errorf("the local address is %s", local.URL())
	}
	admitted := knock(d, http.MethodGet, "192.0.2.1:8780", "/?token="+d.token)
	cookies := admitted.Result().Cookies()
	if admitted.Code != 200 || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode ||
		admitted.Header().Get("Refresh") != "0; url=/" || strings.Contains(admitted.Body.String(), "the page") &&
		!strings.Contains(admitted.Body.String(), "Go on") {
		t.Fatalf("with the token: %d, cookies %v, %s", admitted.Code, cookies, admitted.Body)
	}
	wrong := *cookies[0]
	wrong.Value = newToken()
	for what, c := range map[string]struct {
		path    string
		cookies []*http.Cookie
		want    int
	}{
		"the cookie":               {"/", cookies, 200},
		"the cookie, another page": {"/runs/a", cookies, 200},
		"nothing":                  {"/", nil, 403},
		"a wrong cookie":           {"/", []*http.Cookie{&wrong}, 403},
		"a wrong token":            {"/?token=" + wrong.Value, cookies, 403},
		"an empty token":           {"/?token=", nil, 403},
		"the token elsewhere":      {"/runs/a?token=" + d.token, nil, 403},
	} {
		if w := knock(d, http.MethodGet, "192.0.2.1:8780", c.path, c.cookies...); w.Code != c.want {
			t.Errorf("with %s: %d, want %d", what, w.Code, c.want)
		}
	}
}
