package access_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
)

// postedStores is where the posted files say that the stores are. A test has them in a folder of its own.
const postedStores = "/etc/kafka/secrets"

// posted is a client.properties as people have them.
type posted struct {
	takes string // what the access is, at once or after the remedy
	// refused has the words of each mistake in order; empty if the file is taken.
	refused []string
	// remedy is what the message says, as text and what to write instead of it.
	remedy []string
}

const (
	plainLogin = "org.apache.kafka.common.security.plain.PlainLoginModule required "
)

var postedForms = map[string]posted{
	"plaintext":                {takes: "PLAINTEXT"},
	"ssl-jks":                  {takes: "SSL"},
	"ssl-jks-without-password": {takes: "SSL"},
	"ssl-pkcs12":               {takes: "SSL"},
	"mtls-jks":                 {takes: "SSL"},
	"mtls-pkcs12":              {takes: "SSL"},
	"mtls-pem":                 {takes: "SSL"},
	"mtls-pem-encrypted":       {takes: "SSL"},
	"mtls-pem-inline":          {takes: "SSL"},
	"scram-256":                {takes: "SASL_PLAINTEXT (SCRAM-SHA-256)"},
	"scram-512":                {takes: "SASL_SSL (SCRAM-SHA-512)"},
	"cloud-api-key":            {takes: "SASL_SSL (PLAIN)"},
	"oauth-jaas":               {takes: "SASL_SSL (OAUTHBEARER)"},
	"oauth-settings":           {takes: "SASL_SSL (OAUTHBEARER)"},
	"oauth-token-file":         {takes: "SASL_SSL (OAUTHBEARER)"},
	"msk-iam":                  {takes: "SASL_SSL (AWS_MSK_IAM)"},
	"msk-iam-profile":          {takes: "SASL_SSL (AWS_MSK_IAM)"},
	"kerberos-keytab":          {takes: "SASL_PLAINTEXT (GSSAPI)"},
	"kerberos-ticket-cache":    {takes: "SASL_PLAINTEXT (GSSAPI)"},
	"provider-env":             {takes: "SASL_PLAINTEXT (SCRAM-SHA-512)"},
	"provider-file":            {takes: "SASL_PLAINTEXT (SCRAM-SHA-512)"},
	"provider-directory":       {takes: "SASL_PLAINTEXT (SCRAM-SHA-512)"},
	"tls-versions":             {takes: "SSL"},
	"byte-order-mark":          {takes: "SSL"},
	"utf-16":                   {takes: "SSL"},

	"jaas-in-quotes": {"SASL_SSL (PLAIN)", []string{"3: sasl.jaas.config … quotes … remove the quotes around it"},
		[]string{`="org`, `=org`, `;"`, `;`}},
	"jaas-braces": {"SASL_SSL (PLAIN)", []string{"3: sasl.jaas.config … braces … only the entry within them"},
		[]string{"KafkaClient { \\\n", "", " \\\n};", ""}},
	"blank-after-backslash": {"SASL_SSL (PLAIN)", []string{"3: sasl.jaas.config … blank … remove the blank"},
		[]string{"\\ \n", "\\\n"}},
	"path-in-certificates": {"SSL", []string{"3: ssl.truststore.certificates … the PEM text itself … ssl.truststore.location"},
		[]string{"ssl.truststore.certificates", "ssl.truststore.location"}},
	"placeholder-variable": {"SASL_SSL (PLAIN)", []string{"3: sasl.jaas.config … placeholder … config.providers=env"},
		[]string{"${ORDERS", "${env:ORDERS", "security.protocol", "config.providers=env\nconfig.providers.env.class=" +
			"org.apache.kafka.common.config.provider.EnvVarConfigProvider\nsecurity.protocol"}},
	"placeholder-template": {"SASL_SSL (PLAIN)", []string{"3: sasl.jaas.config … placeholder … write the value itself"},
		[]string{"{{ CLUSTER_API_KEY }}", "orders", "{{ CLUSTER_API_SECRET }}", secret}},
	"protocol-in-quotes": {"SASL_SSL (PLAIN)", []string{"1: security.protocol … quotes … remove the quotes around it"},
		[]string{`"SASL_SSL"`, "SASL_SSL"}},
	"comment-behind": {"SASL_SSL (PLAIN)", []string{"1: security.protocol … comment … on a line of its own"},
		[]string{"security.protocol=SASL_SSL   # encrypted", "# encrypted\nsecurity.protocol=SASL_SSL"}},
	"librdkafka-names": {"SASL_SSL (PLAIN)", []string{
		`3: "sasl.mechanisms" is a name of another tool; write sasl.mechanism`,
		`4: "sasl.username" … write sasl.jaas.config=` + plainLogin, `5: "sasl.password" … write sasl.jaas.config=` + plainLogin,
		`6: "ssl.ca.location" … write ssl.truststore.location … and ssl.truststore.type=PEM`,
	}, []string{"sasl.mechanisms", "sasl.mechanism", "sasl.username=orders\nsasl.password=s3cret-of-orders", "sasl.jaas.config=" + plainLogin +
		`username="orders" password="s3cret-of-orders";`, "ssl.ca.location", "ssl.truststore.type=PEM\nssl.truststore.location"}},
	"spring-names": {"SASL_SSL (PLAIN)", []string{
		"1: … write security.protocol", "2: … write sasl.mechanism", "3: … write sasl.jaas.config",
		"4: … write ssl.truststore.location", "5: … write ssl.truststore.password",
	}, []string{"spring.kafka.properties.", "", "spring.kafka.ssl.trust-store-location=file:", "ssl.truststore.location=",
		"spring.kafka.ssl.trust-store-password", "ssl.truststore.password"}},
	"json": {"SASL_SSL (PLAIN)", []string{"2: … write security.protocol", "3: … write sasl.mechanism"},
		[]string{"{\n", "", "}\n", "", `  "security.protocol": "SASL_SSL",`, "security.protocol=SASL_SSL", `  "sasl.mechanism": "PLAIN",`, "sasl.mechanism=PLAIN",
			`  "sasl.password": "s3cret-of-orders"`, "sasl.jaas.config=" + plainLogin + `username="orders" password="s3cret-of-orders";`}},
	"container-variables": {"SASL_SSL (PLAIN)", []string{"1: no line of the file is a setting … NAME=VALUE"},
		[]string{"KAFKA_SECURITY_PROTOCOL", "security.protocol", "KAFKA_SASL_MECHANISM", "sasl.mechanism", "KAFKA_SASL_PASSWORD=s3cret-of-orders",
			"sasl.jaas.config=" + plainLogin + `username="orders" password="s3cret-of-orders";`}},
	"oauth-other-handler": {"SASL_SSL (OAUTHBEARER)", []string{
		"1: security.protocol … asks for sasl.oauthbearer.token.endpoint.url",
		"3: sasl.login.callback.handler.class … use org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler … clientId",
	}, []string{"io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler", "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\n" +
		"sasl.oauthbearer.token.endpoint.url=https://idp.example/oauth2/token", "oauth.client.id", "clientId", "oauth.client.secret", "clientSecret"}},
	"key-of-old-openssl": {"SSL", []string{"3: ssl.keystore.location … old form of OpenSSL … openssl pkcs8 -topk8"},
		[]string{"client-old.pem", "client-encrypted.pem"}},
	"pem-without-type": {"SSL", []string{"2: ssl.truststore.location … the file is PEM; set ssl.truststore.type=PEM"},
		[]string{"security.protocol=SSL", "security.protocol=SSL\nssl.truststore.type=PEM"}},
	"wrong-password": {"SSL", []string{"2: ssl.truststore.location … password … check ssl.truststore.password"},
		[]string{"changeme", "changeit"}},
}

// TestPostedForms reads each posted file: it is taken, or each mistake is named with a remedy after which it is taken.
func TestPostedForms(t *testing.T) {
	folder, inline := postedFolder(t)
	t.Setenv("ORDERS_USER", "orders")
	t.Setenv("ORDERS_PASSWORD", "s3cret-of-orders")
	files, err := filepath.Glob("testdata/posted/*.properties")
	if err != nil || len(files) < 33 || len(files) != len(postedForms) {
		t.Fatalf("%d files for %d forms: %v", len(files), len(postedForms), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".properties")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			content := moved(string(raw), folder)
			content = inline.Replace(content)
			form := postedForms[name]
			if len(form.refused) > 0 {
				wantRefused(t, content, form.refused)
				content = strings.NewReplacer(form.remedy...).Replace(content)
			}
			wantTaken(t, content, form.takes)
		})
	}
}

// moved replaces the folder of the stores, in UTF-16 too.
func moved(content, folder string) string {
	wide := func(text string) string {
		return strings.Join(strings.Split(text, ""), "\x00") + "\x00"
	}
	return strings.NewReplacer(postedStores, folder, wide(postedStores), wide(folder)).Replace(content)
}

func wantRefused(t *testing.T, content string, want []string) {
	t.Helper()
	_, warnings, err := access.Parse("c.properties", []byte(content))
	var mistakes access.Mistakes
	if !errors.As(err, &mistakes) || len(mistakes) != len(want) {
		t.Fatalf("want %d mistakes, got:\n%v", len(want), err)
	}
	for i := range want {
		if !inOrder(mistakes[i].Error(), "c.properties:"+want[i]) {
			t.Errorf("the mistake is %q, want %q", mistakes[i], want[i])
		}
	}
	wantNoSecret(t, fmt.Sprint(err, warnings))
}

func wantTaken(t *testing.T, content, want string) {
	t.Helper()
	a, warnings, err := access.Parse("c.properties", []byte(content))
	if err != nil || a.String() != want {
		t.Fatalf("the access is %v, want %s: %v", a, want, err)
	}
	if a.SASL != nil && a.SASL.Username != "" && a.SASL.Password == "" {
		t.Error("there is no password")
	}
	wantNoSecret(t, fmt.Sprint(a, warnings))
}

func wantNoSecret(t *testing.T, said string) {
	t.Helper()
	for _, secret := range []string{"s3cret", "changeit", "PRIVATE"} {
		if strings.Contains(said, secret) {
			t.Errorf("a secret is repeated: %s", said)
		}
	}
}

// postedFolder writes the stores that the posted files name. The replacer has the PEM texts within a file.
func postedFolder(t *testing.T) (folder string, inline *strings.Replacer) {
	t.Helper()
	folder = t.TempDir()
	authority := accesstest.NewAuthority(t)
	chain, key := authority.Issue(t, 0, "orders")
	issuer := accesstest.NewIssuer(t, "orders", "s3cret-of-orders", time.Hour)
	old := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"
	if err := os.Mkdir(filepath.Join(folder, "mounted"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"truststore.jks": string(authority.TrustJKS(t, "changeit")), "truststore.p12": string(authority.TrustPKCS12(t, "changeit")),
		"keystore.jks": string(authority.KeyJKS(t, "orders", "changeit", "changeit-too")),
		"keystore.p12": string(authority.KeyPKCS12(t, "orders", "changeit")),
		"ca.pem":       authority.PEM, "client.pem": chain + key, "client-old.pem": chain + old,
		"client-encrypted.pem": chain + accesstest.Encrypted(t, key, "changeit"), "token": issuer.Token("orders", "kafka"),
		"credentials.properties": "password = s3cret-of-orders\n", "mounted/user": "orders", "mounted/password": "s3cret-of-orders",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	escaped := func(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }
	return folder, strings.NewReplacer("@CA@", escaped(authority.PEM), "@CHAIN@", escaped(chain), "@KEY@", escaped(key))
}
