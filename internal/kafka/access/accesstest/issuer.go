package accesstest

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// Issuer issues tokens for client credentials, on loopback, and publishes the key that verifies them.
type Issuer struct {
	URL     string // of the token endpoint
	KeysURL string // of the key (JSON Web Key Set)
	Issued  atomic.Int64

	id, secret string
	life       time.Duration
	key        *ecdsa.PrivateKey
}

// NewIssuer makes an issuer that knows one client. Its tokens live as long as life.
func NewIssuer(t testing.TB, id, secret string, life time.Duration) *Issuer {
	t.Helper()
	i := &Issuer{id: id, secret: secret, life: life, key: newKey(t)}
	routes := http.NewServeMux()
	routes.HandleFunc("/token", i.issue)
	routes.HandleFunc("/keys", i.publish)
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	i.URL, i.KeysURL = server.URL+"/token", server.URL+"/keys"
	return i
}

func (i *Issuer) issue(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	w.Header().Set("Content-Type", "application/json")
	if id != i.id || secret != i.secret || r.FormValue("grant_type") != "client_credentials" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":"invalid_client","error_description":"not %s"}`, secret)
		return
	}
	i.Issued.Add(1)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": i.Token(id, r.FormValue("scope")), "token_type": "Bearer", "expires_in": int(i.life.Seconds()),
	})
}

// Token returns a signed JSON Web Token for a subject.
func (i *Issuer) Token(subject, scope string) string {
	now := time.Now()
	part := func(content map[string]any) string {
		text, _ := json.Marshal(content)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(map[string]any{"alg": "ES256", "kid": "1"}) + "." + part(map[string]any{
		"sub": subject, "scope": scope, "iss": "issuer", "aud": "kafka", "iat": now.Unix(), "exp": now.Add(i.life).Unix(),
		"jti": fmt.Sprint(now.UnixNano()),
	})
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, digest[:])
	if err != nil {
		panic(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

func (i *Issuer) publish(w http.ResponseWriter, _ *http.Request) {
	point, err := i.key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	coordinate := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "P-256", "kid": "1", "use": "sig", "alg": "ES256",
		"x": coordinate(point[1:33]), "y": coordinate(point[33:]),
	}}})
}
