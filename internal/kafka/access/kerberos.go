package access

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/twmb/franz-go/pkg/sasl/kerberos"
)

// Kerberos says how a client gets a ticket for brokers, from a key table or from the cache of kinit.
type Kerberos struct {
	Service string // the first part of the brokers' principals, for instance kafka
	User    string // the client's principal without its realm
	Realm   string // may be empty: that of the configuration file, or of the cache
	KeyTab  string // a file; empty: the cache
	Cache   string // a file
	Config  string // the file krb5.conf
}

func kerberosConfig() string {
	if path := os.Getenv("KRB5_CONFIG"); path != "" {
		return path
	}
	return "/etc/krb5.conf"
}

// Java's own default is a file in the user's home; kinit's is this one.
func kerberosCache() string {
	if name := os.Getenv("KRB5CCNAME"); name != "" {
		return strings.TrimPrefix(name, "FILE:")
	}
	return "/tmp/krb5cc_" + strconv.Itoa(os.Getuid())
}

// Check reads the files that a login needs. Its error names no path.
func (k *Kerberos) Check() error {
	_, err := k.client()
	return err
}

// DefaultRealm returns Realm, or else that of the configuration file; "" if there is none.
func (k *Kerberos) DefaultRealm() string {
	settings, err := config.Load(k.Config)
	if k.Realm != "" || err != nil {
		return k.Realm
	}
	return settings.LibDefaults.DefaultRealm
}

func (k *Kerberos) client() (*client.Client, error) {
	settings, err := config.Load(k.Config)
	if err != nil {
		return nil, errors.New("the configuration of Kerberos can't be read; set the variable KRB5_CONFIG to the file krb5.conf")
	}
	if k.KeyTab != "" {
		table, err := keytab.Load(k.KeyTab)
		if err != nil {
			return nil, errors.New("the key table can't be read; name a file that ktutil lists")
		}
		return client.NewWithKeytab(k.User, cmp.Or(k.Realm, settings.LibDefaults.DefaultRealm), table, settings, client.DisablePAFXFAST(true)), nil
	}
	cache, err := credentials.LoadCCache(k.Cache)
	if err != nil {
		return nil, errors.New("there is no ticket; call kinit first, or name a key table (useKeyTab=true keyTab=\"…\")")
	}
	found, err := client.NewFromCCache(cache, settings, client.DisablePAFXFAST(true))
	if err != nil {
		return nil, errors.New("the cache has no ticket that can be used; call kinit")
	}
	return found, nil
}

// auth makes a client for each connection, which then ends it.
func (k *Kerberos) auth(context.Context) (kerberos.Auth, error) {
	found, err := k.client()
	if err != nil {
		return kerberos.Auth{}, err
	}
	return kerberos.Auth{Client: found, Service: k.Service}, nil
}
