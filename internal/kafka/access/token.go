package access

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Token is what a client shows a broker with OAUTHBEARER (RFC 7628).
type Token struct {
	Text       Secret
	Principal  string            // the claim "sub"; may be empty
	Expires    time.Time         // zero if the token does not say it
	Extensions map[string]string // SASL extensions (KIP-342)
}

// Tokens returns tokens, and keeps each for 80 % of its life, as Kafka's clients do
// (sasl.login.refresh.window.factor). It is safe for concurrent use.
type Tokens struct {
	fetch func(ctx context.Context, broker string) (Token, error)

	mu    sync.Mutex
	held  Token
	renew time.Time
}

const keptOfLife = 0.8

// A TokenError says why there is no token. It holds neither a token nor a secret.
type TokenError struct {
	Reason string
	Remedy string
}

// Error returns reason and remedy.
func (e *TokenError) Error() string { return "no token: " + e.Reason + "; " + e.Remedy }

// Token returns a token for the broker at an address (host:port). An error is a *TokenError.
func (t *Tokens) Token(ctx context.Context, broker string) (Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.Before(t.renew) {
		return t.held, nil
	}
	token, err := t.fetch(ctx, broker)
	switch {
	case err != nil && now.Before(t.held.Expires):
		return t.held, nil
	case err != nil:
		return Token{}, err
	}
	t.held, t.renew = token, now.Add(time.Duration(keptOfLife*float64(token.Expires.Sub(now))))
	return token, nil
}

// claims reads what the client needs of a JSON Web Token. The broker verifies it.
func claims(text string, extensions map[string]string) (Token, error) {
	var claims struct {
		Subject string  `json:"sub"`
		Expires float64 `json:"exp"`
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return Token{}, errors.New("it is no JSON Web Token")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil || claims.Expires == 0 {
		return Token{}, errors.New("it is no JSON Web Token with the claim exp")
	}
	return Token{Text: Secret(text), Principal: claims.Subject, Expires: time.Unix(int64(claims.Expires), 0),
		Extensions: extensions}, nil
}

// tokenFile is a file with a token, which another program renews.
type tokenFile struct {
	path       string
	extensions map[string]string
}

func (f tokenFile) fetch(context.Context, string) (Token, error) {
	remedy := "check the file that " + keyTokenURL + " names"
	content, err := readFile(f.path)
	if err != nil {
		return Token{}, &TokenError{"the file can't be read: " + err.Error(), remedy}
	}
	token, err := claims(strings.TrimSpace(string(content)), f.extensions)
	if err != nil {
		return Token{}, &TokenError{err.Error(), remedy}
	}
	if time.Now().After(token.Expires) {
		return Token{}, &TokenError{"the token in the file has expired", remedy}
	}
	return token, nil
}

// tokenEndpoint issues tokens for client credentials (RFC 6749, section 4.4).
type tokenEndpoint struct {
	url        string
	id         string
	secret     Secret
	scope      string // may be empty
	urlEncode  bool   // id and secret, as the RFC asks; Kafka's clients do not by default
	tls        *tls.Config
	extensions map[string]string
}

const (
	tokenTimeout  = 10 * time.Second
	maxTokenBytes = 1 << 20
)

// An error code of an endpoint is quoted only if it looks like one.
var tokenErrorCode = regexp.MustCompile(`^[a-z_]{1,40}$`)

const endpointRemedy = "check " + keyTokenURL + ", and the client's ID, secret and scope"

func (e tokenEndpoint) fetch(ctx context.Context, _ string) (Token, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	status, body, err := e.post(ctx)
	if err != nil {
		return Token{}, &TokenError{err.Error(), endpointRemedy}
	}
	var answer struct {
		Token string `json:"access_token"`
		Error string `json:"error"`
	}
	parsed := json.Unmarshal(body, &answer)
	switch {
	case status != http.StatusOK && parsed == nil && tokenErrorCode.MatchString(answer.Error):
		return Token{}, &TokenError{fmt.Sprintf("the token endpoint answered %d (%s)", status, answer.Error), endpointRemedy}
	case status != http.StatusOK:
		return Token{}, &TokenError{fmt.Sprintf("the token endpoint answered %d", status), endpointRemedy}
	case parsed != nil || answer.Token == "":
		return Token{}, &TokenError{"the token endpoint's answer has no access_token", "check " + keyTokenURL}
	}
	token, err := claims(answer.Token, e.extensions)
	if err != nil {
		return Token{}, &TokenError{"of the token endpoint's token: " + err.Error(), "check " + keyTokenURL}
	}
	return token, nil
}

func (e tokenEndpoint) post(ctx context.Context) (status int, body []byte, err error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if e.scope != "" {
		form.Set("scope", e.scope)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewBufferString(form.Encode()))
	if err != nil {
		return 0, nil, errors.New("the token endpoint's URL is not valid")
	}
	id, secret := e.id, string(e.secret)
	if e.urlEncode {
		id, secret = url.QueryEscape(id), url.QueryEscape(secret)
	}
	request.SetBasicAuth(id, secret)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	transport := &http.Transport{TLSClientConfig: e.tls, Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the secret goes to the named server only
	}}
	response, err := client.Do(request)
	if err != nil {
		if failed := new(url.Error); errors.As(err, &failed) {
			err = failed.Err // without the URL
		}
		return 0, nil, fmt.Errorf("the token endpoint can't be reached: %w", err)
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxTokenBytes))
	return response.StatusCode, body, err
}
