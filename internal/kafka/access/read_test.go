package access_test

import (
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
)

const secret = "s3cret-of-alice"

func TestReadFile(t *testing.T) {
	ca := accesstest.NewAuthority(t)
	settings := append([]string{"# of the staging cluster", "security.protocol = sasl_ssl"}, accesstest.Login("SCRAM-SHA-512", "alice", secret)...)
	settings = append(append(settings, ca.Trust(t)...), ca.Identity(t, "alice")...)
	path := accesstest.File(t, "client.properties", strings.Join(settings, "\r\n"))
	a, warnings, err := access.Read(path)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if a.SASL == nil || *a.SASL != (access.SASL{Mechanism: "SCRAM-SHA-512", Username: "alice", Password: secret}) {
		t.Error("the user is another")
	}
	if a.TLS == nil || a.TLS.RootCAs == nil || len(a.TLS.Certificates) != 1 || a.TLS.InsecureSkipVerify {
		t.Error("the TLS configuration is another")
	}
	if a.Protocol() != "SASL_SSL" {
		t.Errorf("Protocol() = %q", a.Protocol())
	}
	_, _, err = access.Read(filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
	if _, _, err := access.Read(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func TestInlinePEM(t *testing.T) {
	ca := accesstest.NewAuthority(t)
	chain, key := ca.Issue(t, 0, "alice")
	for name, inline := range map[string]func(string) string{
		"escaped": func(text string) string { return strings.ReplaceAll(text, "\n", `\n`) },
		"spaces":  func(text string) string { return strings.ReplaceAll(text, "\n", " ") },
		"lines":   func(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", " \\\n  ") },
	} {
		a := accesstest.Access(t, "security.protocol=SSL",
			"ssl.truststore.type=PEM", "ssl.truststore.certificates="+inline(ca.PEM),
			"ssl.keystore.type=PEM", "ssl.keystore.certificate.chain="+inline(chain), "ssl.keystore.key="+inline(key),
			"ssl.endpoint.identification.algorithm=")
		if a.TLS.RootCAs == nil || len(a.TLS.Certificates) != 1 || !a.TLS.InsecureSkipVerify || a.TLS.VerifyConnection == nil {
			t.Errorf("%s: the TLS configuration is another", name)
		}
	}
}

func TestMistakes(t *testing.T) {
	ca := accesstest.NewAuthority(t)
	chain, key := ca.Issue(t, 0, "alice")
	_, otherKey := ca.Issue(t, 0, "bob")
	file := func(content string) string { return accesstest.File(t, "x.pem", content) }
	encrypted := string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte(secret)}))
	jaas := func(options string) string {
		return "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required " + options + ";"
	}
	user := jaas(`username="alice" password="` + secret + `"`)
	tests := map[string]struct {
		lines []string
		want  []string
	}{
		"everything at once": {
			[]string{"security.protocl=SSL", "sasl.mechanism=KERBEROS", "ssl.truststore.location=" + secret, "ssl.enabled.protocols=" + secret, "security.protocol=" + secret},
			[]string{"1: … security.protocl … security.protocol", "2: … sasl.mechanism … PLAIN", "3: … no such file", "4: … ssl.enabled.protocols … TLSv1.3", "5: … no such protocol … PLAINTEXT, SSL", "5: … sasl.jaas.config"},
		},
		"twice":                          {[]string{"security.protocol=SSL", "security.protocol=SASL_SSL"}, []string{"2: … line 1 already"}},
		"blank":                          {[]string{"security.protocol="}, []string{"1: … no value"}},
		"SASL without":                   {[]string{"security.protocol=SASL_SSL"}, []string{"1: … sasl.mechanism", "1: … sasl.jaas.config"}},
		"another module":                 {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-256", user}, []string{"3: … does not serve … ScramLoginModule"}},
		"unknown module":                 {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.jaas.config=com.example." + secret + " required;"}, []string{"3: … unknown … PlainLoginModule"}},
		"no password":                    {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", jaas(`username="alice"`)}, []string{"3: … lacks"}},
		"token":                          {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-256", strings.Replace(jaas(`username="a" password="`+secret+`" tokenauth="true"`), "plain.Plain", "scram.Scram", 1)}, []string{"3: … delegation tokens"}},
		"no backslash":                   {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required", `username="alice"`, `password="` + secret + `";`}, []string{"3: … semicolon … backslash"}},
		"JKS":                            {[]string{"security.protocol=SSL", "ssl.truststore.type=JCEKS", "ssl.truststore.location=x.jks", "ssl.keystore.type=PEM", "ssl.keystore.location=" + file(string(ca.KeyPKCS12(t, "alice", "changeit")))}, []string{"2: … keytool -importkeystore … ssl.truststore.type=PKCS12", "5: … not PEM; set ssl.keystore.type=PKCS12"}},
		"JKS by default":                 {[]string{"security.protocol=SSL", "ssl.keystore.location=" + file("x.jks")}, []string{"2: … neither JKS nor PKCS12"}},
		"no such file":                   {[]string{"security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.location=" + secret}, []string{"3: … no such file"}},
		"no certificate":                 {[]string{"security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.location=" + file(secret)}, []string{"3: … no certificate"}},
		"broken certificate":             {[]string{"security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.certificates=-----BEGIN CERTIFICATE-----"}, []string{`3: … does not end … \n\`}},
		"no key":                         {[]string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.location=" + file(chain)}, []string{"3: … no private key"}},
		"two keys":                       {[]string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.location=" + file(chain+key+otherKey)}, []string{"3: … more than one"}},
		"another's key":                  {[]string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.location=" + file(chain+otherKey)}, []string{"3: … does not match"}},
		"encrypted key":                  {[]string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.location=" + file(chain+encrypted)}, []string{"3: … encrypted … check ssl.key.password"}},
		"key's password":                 {[]string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.location=" + file(chain+accesstest.Encrypted(t, key, "another")), "ssl.key.password=" + secret}, []string{"3: … password of the private key is wrong"}},
		"store's password":               {[]string{"security.protocol=SSL", "ssl.keystore.location=" + file(string(ca.KeyJKS(t, "alice", "changeit", "changeit"))), "ssl.keystore.password=" + secret}, []string{"2: … password is wrong … check ssl.keystore.password"}},
		"password in the JKS":            {[]string{"security.protocol=SSL", "ssl.keystore.location=" + file(string(ca.KeyJKS(t, "alice", "changeit", "another"))), "ssl.keystore.password=changeit"}, []string{"2: … password of the private key is wrong … check ssl.key.password"}},
		"password of PKCS12":             {[]string{"security.protocol=SSL", "ssl.truststore.location=" + file(string(ca.TrustPKCS12(t, "changeit"))), "ssl.truststore.password=" + secret}, []string{"2: … password is wrong … check ssl.truststore.password"}},
		"a key to trust":                 {[]string{"security.protocol=SSL", "ssl.truststore.location=" + file(string(ca.KeyPKCS12(t, "alice", "changeit"))), "ssl.truststore.password=changeit"}, []string{"2: … no trust store … keytool -importcert"}},
		"old TLS":                        {[]string{"security.protocol=SSL", "ssl.protocol=TLSv1.1"}, []string{"2: … no version of TLS is left … TLSv1.2"}},
		"no TLS in common":               {[]string{"security.protocol=SSL", "ssl.protocol=TLSv1.2", "ssl.enabled.protocols=TLSv1.3"}, []string{"2: … no version of TLS is left"}},
		"file and text":                  {[]string{"security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.location=x", "ssl.truststore.certificates=" + ca.PEM[:40]}, []string{"4: … as well"}},
		"key without chain":              {[]string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.key=-----BEGIN " + secret}, []string{"3: … ssl.keystore.certificate.chain is not set"}},
		"chain without key":              {[]string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.certificate.chain=-----BEGIN " + secret}, []string{"3: … ssl.keystore.key is not set"}},
		"identification":                 {[]string{"security.protocol=SSL", "ssl.endpoint.identification.algorithm=" + secret}, []string{"2: … no such algorithm"}},
		"values from elsewhere":          {[]string{"config.providers=vault", "config.providers.vault.class=com.example." + secret}, []string{"2: … not supported … DirectoryConfigProvider"}},
		"another tool's prefix":          {[]string{"producer.security.protocol=SSL"}, []string{"1: … name of another tool; write security.protocol"}},
		"a variable that is not set":     {[]string{"config.providers=env", "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider", "security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", jaas(`username="alice" password="${env:KAFKA_BENCH_NONE}"`)}, []string{"5: … provider … not set"}},
		"a variable that is not allowed": {[]string{"config.providers=env", "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider", "config.providers.env.param.allowlist.pattern=KAFKA_.*", "security.protocol=${env:PATH}"}, []string{"4: … do not allow"}},
		"a file that is not allowed":     {[]string{"config.providers=f", "config.providers.f.class=org.apache.kafka.common.config.provider.FileConfigProvider", "config.providers.f.param.allowed.paths=/srv/kafka", "security.protocol=${f:/srv/kafka/../x:y}"}, []string{"4: … do not allow"}},
		"token endpoint":                 {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler", "sasl.oauthbearer.token.endpoint.url=" + secret, "sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"}, []string{"4: … no URL"}},
		"unsigned tokens":                {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=https://idp.example", "sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"}, []string{"1: … sasl.login.callback.handler.class … nobody has signed", "4: … lacks the client's ID or secret"}},
		"Kerberos without anything":      {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=GSSAPI", "sasl.kerberos.service.name=kafka", "sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required;"}, []string{"4: … useKeyTab=true"}},
		"a bad escape":                   {[]string{`sasl.jaas.config=\u12`}, []string{"1: … hexadecimal"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, warnings, err := access.Parse("c.properties", []byte(strings.Join(test.lines, "\n")))
			var mistakes access.Mistakes
			if !errors.As(err, &mistakes) || len(mistakes) != len(test.want) {
				t.Fatalf("want %d faults, got:\n%v", len(test.want), err)
			}
			if a.TLS != nil || a.SASL != nil {
				t.Error("an access came with the faults")
			}
			for i, want := range test.want {
				if !inOrder(mistakes[i].Error(), "c.properties:"+want) {
					t.Errorf("fault %q, want %q", mistakes[i], want)
				}
			}
			if said := err.Error() + fmt.Sprint(warnings); strings.Contains(said, secret) {
				t.Errorf("a value is repeated:\n%s", said)
			}
		})
	}
}

func inOrder(text, words string) bool {
	for _, word := range strings.Split(words, " … ") {
		_, after, found := strings.Cut(text, word)
		if !found {
			return false
		}
		text = after
	}
	return true
}

const kafkasSettings = `acks=all
retries=3
bootstrap.servers=b:9092
client.id=x
group.id=x
enable.auto.commit=false
linger.ms=5
max.poll.records=10
request.timeout.ms=1000
sasl.login.class=x
security.providers=x
ssl.cipher.suites=x
ssl.engine.factory.class=x
ssl.keymanager.algorithm=x
ssl.provider=x
ssl.secure.random.implementation=x
ssl.trustmanager.algorithm=x
sasl.oauthbearer.scope.claim.name=x
sasl.oauthbearer.sub.claim.name=x
sasl.login.read.timeout.ms=1
sasl.kerberos.kinit.cmd=x
`

func TestWarnings(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"nothing":                    {"", nil},
		"other settings":             {kafkasSettings, []string{"sasl.login.class, security.providers, ssl.cipher.suites … sasl.kerberos.kinit.cmd and "}},
		"forgotten protocol":         {"sasl.mechanism=PLAIN\nssl.keystore.type=JKS", []string{"security.protocol is not set, so it is PLAINTEXT: sasl.mechanism, ssl.keystore.type"}},
		"of the other protocol":      {"security.protocol=PLAINTEXT\nssl.truststore.location=x.jks", []string{"no effect, with its security.protocol: ssl.truststore.location"}},
		"every setting at most once": {"client.id=a\nacks=1\nssl.provider=x", []string{"ssl.provider, client.id, acks"}},
		"pieces of a key":            {"acks=1\n" + secret + "\nMIIEvQ==", []string{"acks", "c.properties:2: ignored … backslash"}},
	}
	for name, test := range tests {
		a, warnings, err := access.Parse("c.properties", []byte(test.text))
		if err != nil || (a.TLS != nil || a.SASL != nil) || len(warnings) != len(test.want) {
			t.Errorf("%s: %v, %v, %q", name, a, err, warnings)
			continue
		}
		for i, want := range test.want {
			for _, words := range strings.Split(want, " … ") {
				if !strings.Contains(warnings[i], words) || strings.Contains(warnings[i], secret) {
					t.Errorf("%s: the warning %q, want %q", name, warnings[i], want)
				}
			}
		}
	}
}

func TestNothingIsPrinted(t *testing.T) {
	a := access.Access{SASL: &access.SASL{Mechanism: "PLAIN", Username: "alice", Password: secret}}
	encoded, err := json.Marshal([]any{a, a.SASL})
	if err != nil {
		t.Fatal(err)
	}
	said := string(encoded)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		said += fmt.Sprintf(verb+verb+verb, a, a.SASL, struct{ A access.Access }{a})
	}
	if strings.Contains(said, secret) || strings.Contains(said, fmt.Sprintf("%x", secret)) {
		t.Errorf("the password is printed: %s", said)
	}
	if !strings.Contains(said, "SASL_PLAINTEXT (PLAIN)") {
		t.Errorf("the access is not described: %s", said)
	}
}

func TestExplainNothing(t *testing.T) {
	for _, err := range []error{nil, errors.New("x"), os.ErrNotExist} {
		if d := (access.Access{}).Explain(err); d != nil {
			t.Errorf("%v is explained by %+v", err, d)
		}
	}
	if d := (access.Access{}).Explain(&access.HandshakeError{Err: x509.UnknownAuthorityError{}}); d == nil || d.Answered {
		t.Errorf("an unknown authority is explained by %+v", d)
	}
}

// FuzzParse: no content makes Parse panic or quote a value.
func FuzzParse(f *testing.F) {
	f.Add([]byte(kafkasSettings))
	f.Add([]byte("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=" +
		"org.apache.kafka.common.security.plain.PlainLoginModule required \\\n username=\"alice\" password=\"" + secret + "\";"))
	f.Add([]byte("security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.certificates=-----BEGIN CERTIFICATE-----\\n" + secret + "-----END CERTIFICATE-----"))
	f.Add([]byte("ssl.keystore.key=-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----"))
	f.Add([]byte("\xef\xbb\xbfsecurity.protocol=SSL\n"))
	f.Add([]byte("\xff\xfea\x00=\x00b\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		_, warnings, err := access.Parse("c.properties", content)
		var mistakes access.Mistakes
		if err != nil && !errors.As(err, &mistakes) {
			t.Errorf("%v is not Faults", err)
		}
		if said := fmt.Sprint(err, warnings); strings.Contains(said, secret) {
			t.Errorf("a value is repeated:\n%s", said)
		}
	})
}

// Editors write a byte order mark, and PowerShell UTF-16. A key that was not recognised because of it would mean
// PLAINTEXT.
func TestByteOrderMarkLeavesTLSOn(t *testing.T) {
	const text = "security.protocol=SSL\n"
	wide := func(mark string, order binary.AppendByteOrder) string {
		content := []byte(mark)
		for _, unit := range utf16.Encode([]rune(text)) {
			content = order.AppendUint16(content, unit)
		}
		return string(content)
	}
	for name, content := range map[string]string{
		"UTF-8": "\xef\xbb\xbf" + text, "UTF-16LE": wide("\xff\xfe", binary.LittleEndian), "UTF-16BE": wide("\xfe\xff", binary.BigEndian),
	} {
		a, warnings, err := access.Parse("c.properties", []byte(content))
		if err != nil || len(warnings) > 0 || a.TLS == nil {
			t.Errorf("%s: TLS %v, %v, %q", name, a.TLS != nil, err, warnings)
		}
	}
	_, _, err := access.Parse("c.properties", []byte(wide("", binary.LittleEndian)))
	if err == nil || !strings.Contains(err.Error(), "c.properties:1: there is a NUL byte") || !strings.Contains(err.Error(), "save the file as UTF-8") {
		t.Errorf("UTF-16 without a mark: %v", err)
	}
}

// OpenSSL wrote the key with -v1 PBE-SHA1-3DES, the only form that Kafka reads with Java 17.
func TestKeyInTripleDES(t *testing.T) {
	settings := []string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.location=testdata/key-3des.pem"}
	if a := accesstest.Access(t, append(settings, "ssl.key.password=changeit")...); len(a.TLS.Certificates) != 1 {
		t.Error("there is no certificate")
	}
	_, _, err := access.Parse("c.properties", []byte(strings.Join(append(settings, "ssl.key.password="+secret), "\n")))
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("with a wrong password: %v", err)
	}
}
