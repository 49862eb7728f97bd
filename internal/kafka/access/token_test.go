package access_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
)

const oauth = "org.apache.kafka.common.security.oauthbearer."

// firstMessage returns what a client sends first to a broker.
func firstMessage(t *testing.T, broker string, settings ...string) (string, error) {
	t.Helper()
	_, first, err := accesstest.Access(t, settings...).SASL.Login().Authenticate(context.Background(), broker)
	return string(first), err
}

func ofIssuer(url string, more ...string) []string {
	return append([]string{
		"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=" + url,
		"sasl.login.callback.handler.class=" + oauth + "OAuthBearerLoginCallbackHandler",
	}, more...)
}

// Both spellings of client credentials, and a file, give the token with the extensions of the login module.
func TestTokens(t *testing.T) {
	issuer := accesstest.NewIssuer(t, "orders", "s3cret/+of=orders", time.Hour)
	file := accesstest.File(t, "token", issuer.Token("orders", "kafka")+"\n")
	login := "sasl.jaas.config=" + oauth + "OAuthBearerLoginModule required"
	for name, settings := range map[string][]string{
		"login module": ofIssuer(issuer.URL, login+` clientId="orders" clientSecret="s3cret/+of=orders" scope="kafka" extension_pool="p1";`),
		"settings": ofIssuer(issuer.URL, login+` extension_pool="p1";`, "sasl.oauthbearer.client.credentials.client.id=orders",
			"sasl.oauthbearer.client.credentials.client.secret=s3cret/+of=orders", "sasl.oauthbearer.scope=kafka"),
		"file": ofIssuer("file://"+file, login+` extension_pool="p1";`),
	} {
		t.Run(name, func(t *testing.T) {
			first, err := firstMessage(t, "broker.example:9092", settings...)
			if err != nil || !strings.HasPrefix(first, "n,,\x01auth=Bearer ey") || !strings.HasSuffix(first, "\x01pool=p1\x01\x01") {
				t.Errorf("the first message is %q: %v", first, err)
			}
		})
	}
}

func TestTokensAreKept(t *testing.T) {
	issuer := accesstest.NewIssuer(t, "orders", secret, time.Hour)
	a := accesstest.Access(t, ofIssuer(issuer.URL, "sasl.jaas.config="+oauth+`OAuthBearerLoginModule required clientId="orders" clientSecret="`+secret+`";`)...)
	for range 3 {
		if _, err := a.SASL.Tokens.Token(context.Background(), "b:1"); err != nil {
			t.Fatal(err)
		}
	}
	if n := issuer.Issued.Load(); n != 1 {
		t.Errorf("the issuer was asked %d times for three connections", n)
	}
}

// What a token endpoint answers is not repeated: it may quote the secret.
func TestNoToken(t *testing.T) {
	issuer := accesstest.NewIssuer(t, "orders", "another", time.Hour)
	short := accesstest.NewIssuer(t, "orders", "another", -time.Hour)
	login := "sasl.jaas.config=" + oauth + `OAuthBearerLoginModule required clientId="orders" clientSecret="` + secret + `";`
	for name, test := range map[string]struct{ url, want string }{
		"wrong secret":  {issuer.URL, "answered 401 (invalid_client)"},
		"nobody there":  {"http://127.0.0.1:1/" + secret, "can't be reached"},
		"another page":  {issuer.KeysURL, "has no access_token"},
		"no file":       {"file:///none/" + secret, "no such file"},
		"old token":     {"file://" + accesstest.File(t, "token", short.Token("orders", "")), "has expired"},
		"other content": {"file://" + accesstest.File(t, "token", secret), "no JSON Web Token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := firstMessage(t, "b:1", ofIssuer(test.url, login)...)
			var refused *access.TokenError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if d := (access.Access{}).Explain(err); d == nil || !strings.Contains(d.Remedy, "token") {
				t.Errorf("it is explained by %+v", d)
			}
		})
	}
}

// The signer's token is a signed URL of the broker's region (SigV4). There is no Amazon MSK to ask.
func TestAWSToken(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Setenv("AWS_REGION", "eu-west-1")
	settings := []string{
		"security.protocol=SASL_SSL", "sasl.mechanism=AWS_MSK_IAM",
		"sasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required;",
	}
	for broker, region := range map[string]string{
		"b-1.orders.ab12cd.c2.kafka.eu-central-1.amazonaws.com:9098": "eu-central-1",
		"boot-x.c1.kafka-serverless.us-east-1.amazonaws.com:9098":    "us-east-1",
		"proxy.example:9098": "eu-west-1",
	} {
		t.Run(region, func(t *testing.T) {
			first, err := firstMessage(t, broker, settings...)
			if err != nil {
				t.Fatal(err)
			}
			_, text, _ := strings.Cut(first, "auth=Bearer ")
			signed, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "\x01"))
			if err != nil {
				t.Fatal(err)
			}
			address, err := url.Parse(string(signed))
			if err != nil {
				t.Fatal(err)
			}
			query := address.Query()
			scope := "AKIDEXAMPLE/" + time.Now().UTC().Format("20060102") + "/" + region + "/kafka-cluster/aws4_request"
			if address.Host != "kafka."+region+".amazonaws.com" || query.Get("Action") != "kafka-cluster:Connect" ||
				query.Get("X-Amz-Credential") != scope || query.Get("X-Amz-Signature") == "" || strings.Contains(first, secret) {
				t.Errorf("the token is %s", signed)
			}
		})
	}
}

// A child process does not have the parent's environment, and the files may be gone.
func TestHandoverOfVariables(t *testing.T) {
	t.Setenv("ORDERS_PASSWORD", secret)
	here := accesstest.Access(t, "config.providers=env", "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider",
		"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN",
		`sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="${env:ORDERS_PASSWORD}";`)
	t.Setenv("ORDERS_PASSWORD", "")
	if there := handedOver(t, here); there.SASL.Password != secret {
		t.Error("the password did not arrive")
	}
}
