package access

import (
	"context"
	"os"
	"regexp"
	"time"

	"github.com/aws/aws-msk-iam-sasl-signer-go/signer"
)

// awsSigner makes tokens for Amazon MSK from the credentials of the AWS SDK: environment, shared files, web identity,
// container or instance.
type awsSigner struct {
	profile, role, session, externalID string // may be empty
}

// Of b-1.orders.ab12cd.c2.kafka.eu-central-1.amazonaws.com it is eu-central-1.
var awsHost = regexp.MustCompile(`\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?::[0-9]+)?$`)

func awsRegion(broker string) string {
	if found := awsHost.FindStringSubmatch(broker); found != nil {
		return found[1]
	}
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region := os.Getenv(name); region != "" {
			return region
		}
	}
	return ""
}

const awsRemedy = "check the credentials and the role with: aws sts get-caller-identity"

func (s awsSigner) fetch(ctx context.Context, broker string) (Token, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	region := awsRegion(broker)
	if region == "" {
		return Token{}, &TokenError{"the broker's name does not say its AWS region", "set the variable AWS_REGION"}
	}
	var text string
	var expires int64
	var err error
	switch {
	case s.role != "":
		text, expires, err = signer.GenerateAuthTokenFromRoleWithExternalId(ctx, region, s.role, s.session, s.externalID)
	case s.profile != "":
		text, expires, err = signer.GenerateAuthTokenFromProfile(ctx, region, s.profile)
	default:
		text, expires, err = signer.GenerateAuthToken(ctx, region)
	}
	if err != nil { // the SDK's error may quote a file of credentials
		return Token{}, &TokenError{"the AWS SDK found no credentials that it can use", awsRemedy}
	}
	return Token{Text: Secret(text), Principal: "kafka-bench", Expires: time.UnixMilli(expires)}, nil
}
