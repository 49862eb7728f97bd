package access_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
)

func handedOver(t *testing.T, a access.Access) access.Access {
	t.Helper()
	h, err := a.Handover()
	if err != nil {
		t.Fatal(err)
	}
	var pipe bytes.Buffer
	if err := gob.NewEncoder(&pipe).Encode(h); err != nil {
		t.Fatal(err)
	}
	var arrived access.Handover
	if err := gob.NewDecoder(&pipe).Decode(&arrived); err != nil {
		t.Fatal(err)
	}
	there, err := arrived.Access()
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func TestHandoverOfPlainText(t *testing.T) {
	if got := handedOver(t, access.Access{}); got.TLS != nil || got.SASL != nil {
		t.Errorf("plain text arrived as %v", got)
	}
}

func TestHandover(t *testing.T) {
	authority := accesstest.NewAuthority(t)
	chain, key := authority.Issue(t, 0, "alice")
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	properties := write("client.properties", strings.Join([]string{
		"security.protocol=SASL_SSL",
		"sasl.mechanism=SCRAM-SHA-512",
		`sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="` + secret + `";`,
		"ssl.truststore.type=PEM", "ssl.truststore.location=" + write("ca.pem", authority.PEM),
		"ssl.keystore.type=PEM", "ssl.keystore.location=" + write("alice.pem", chain+key),
		"ssl.endpoint.identification.algorithm=",
	}, "\n"))
	here, _, err := access.Read(properties)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	there := handedOver(t, here)
	if there.SASL == nil || *there.SASL != *here.SASL {
		t.Errorf("the user arrived as %v", there)
	}
	if !there.TLS.RootCAs.Equal(here.TLS.RootCAs) || !there.TLS.InsecureSkipVerify || there.TLS.VerifyConnection == nil {
		t.Error("the authorities, or what is verified, did not arrive")
	}
	if !bytes.Equal(there.TLS.Certificates[0].Certificate[0], here.TLS.Certificates[0].Certificate[0]) || there.TLS.Certificates[0].PrivateKey == nil {
		t.Error("the certificate did not arrive")
	}
	if again := handedOver(t, there); again.SASL == nil || *again.SASL != *here.SASL {
		t.Error("what was handed over can't be handed on")
	}
	h, err := here.Handover()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(h)
	if said := fmt.Sprintf("%v %+v %#v %s %s", h, h, h, struct{ H access.Handover }{h}, text); err != nil || strings.Contains(said, secret) {
		t.Errorf("a secret is printed: %s, %v", said, err)
	}
}

func TestNoHandoverOfWhatWasNotRead(t *testing.T) {
	if _, err := (access.Access{SASL: &access.SASL{Mechanism: access.MechanismPlain}}).Handover(); err == nil {
		t.Error("an access of unknown origin was handed over")
	}
}

// Each process gets only the variables that its clients read.
func TestVariables(t *testing.T) {
	t.Setenv("KAFKA_PASSWORD", secret)
	login := func(mechanism, jaas string) []string {
		return []string{"security.protocol=SASL_SSL", "sasl.mechanism=" + mechanism, "sasl.jaas.config=" + jaas,
			"config.providers=env", "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider"}
	}
	for mechanism, c := range map[string]struct {
		jaas            string
		reads, variable string
	}{
		"PLAIN": {`org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="${env:KAFKA_PASSWORD}";`,
			"[]", "[KAFKA_PASSWORD]"},
		"AWS_MSK_IAM": {"software.amazon.msk.auth.iam.IAMLoginModule required;",
			"[HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy AWS_*]",
			"[HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy AWS_*]"},
	} {
		settings := login(mechanism, c.jaas)
		if mechanism == "AWS_MSK_IAM" {
			settings = append(settings, "sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler")
		}
		a := accesstest.Access(t, settings...)
		h, err := a.Handover()
		if reads, variables := fmt.Sprint(h.Reads()), fmt.Sprint(a.Variables()); err != nil || reads != c.reads || variables != c.variable {
			t.Errorf("%s: its clients read %s, and its file takes %s, %v", mechanism, reads, variables, err)
		}
	}
}
