package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3Store is a store in a folder of a bucket on a server with Amazon's S3 protocol.
type s3Store struct {
	client *minio.Core
	bucket string
	// prefix is the path of the folder with a slash at the end. It is "" for the whole bucket.
	prefix string
	// google reports whether the server is Google's, whose S3 protocol does not support
	// conditional writes.
	google bool
}

// requestTries is how many times the S3 client tries a request. Each page of a listing and each
// part of a large object is a request.
const requestTries = 3

// errNoBucket means that the bucket does not exist. Requests that fail with it are not repeated.
var errNoBucket = errors.New("the bucket does not exist")

// openS3 returns the store for an s3://bucket/folder URL. It sends no request.
func openS3(u *url.URL) (store, error) {
	values, err := parameters(u, "endpoint", "region", "use_path_style", "disable_https", "profile", "anonymous")
	if err != nil {
		return nil, err
	}
	if u.Host == "" || u.User != nil {
		return nil, errors.New("write it as s3://bucket/folder")
	}
	endpoint := firstSet(values["endpoint"], "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	host, secure, err := parseEndpoint(endpoint, values["disable_https"] != "true")
	if err != nil {
		return nil, err
	}
	client, err := minio.NewCore(host, &minio.Options{
		Creds:        s3Credentials(values),
		Secure:       secure,
		Region:       firstSet(values["region"], "AWS_REGION", "AWS_DEFAULT_REGION"),
		BucketLookup: bucketLookup(values["use_path_style"]),
		MaxRetries:   requestTries,
	})
	if err != nil {
		return nil, err
	}
	s := &s3Store{
		client: client,
		bucket: u.Host,
		google: strings.HasSuffix(host, ".googleapis.com"),
	}
	if folder := strings.Trim(u.Path, "/"); folder != "" {
		s.prefix = folder + "/"
	}
	return s, nil
}

// parseEndpoint parses the address of an S3 server. It returns the host and whether TLS is
// used. The scheme decides about TLS or, if the address has no scheme, secure. A scheme other
// than http and https, or a path, is an error.
func parseEndpoint(endpoint string, secure bool) (host string, useTLS bool, err error) {
	if !strings.Contains(endpoint, "://") {
		return endpoint, secure, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", false, fmt.Errorf("read endpoint: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return "", false, fmt.Errorf("endpoint %s: write it as https://host:port", u.Redacted())
	}
	return u.Host, u.Scheme == "https", nil
}

// bucketLookup returns where requests name the bucket: in the path for "true", in the host name
// for "false". For other values, the client decides by the server's host name.
func bucketLookup(usePathStyle string) minio.BucketLookupType {
	switch usePathStyle {
	case "true":
		return minio.BucketLookupPath
	case "false":
		return minio.BucketLookupDNS
	default:
		return minio.BucketLookupAuto
	}
}

// s3Credentials returns the source of the credentials, by the parameters of the store's URL. By
// default, it uses the first source that has credentials: the environment, the shared
// credentials file, or the metadata service of the machine or pod. The parameter profile selects
// a profile of the file instead. With anonymous=true there are no credentials.
func s3Credentials(values map[string]string) *credentials.Credentials {
	if values["anonymous"] == "true" {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	}
	file := &credentials.FileAWSCredentials{Profile: values["profile"]}
	if values["profile"] != "" {
		return credentials.New(file)
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		file,
		&credentials.IAM{},
	})
}

func (s *s3Store) list(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	options := minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}
	for object := range s.client.ListObjectsIter(ctx, s.bucket, options) {
		if object.Err != nil {
			return nil, storeError(object.Err)
		}
		if key := strings.TrimPrefix(object.Key, s.prefix); key != "" {
			keys = append(keys, key)
		}
	}
	return keys, ctx.Err()
}

func (s *s3Store) get(
	ctx context.Context,
	key string,
	w io.Writer,
) error {
	body, _, _, err := s.client.GetObject(
		ctx,
		s.bucket,
		s.prefix+key,
		minio.GetObjectOptions{},
	)
	if err != nil {
		return storeError(err)
	}
	_, err = io.Copy(w, body)
	return errors.Join(err, body.Close())
}

func (s *s3Store) put(
	ctx context.Context,
	key string,
	content *io.SectionReader,
	ifAbsent bool,
) error {
	options := minio.PutObjectOptions{ContentType: "application/octet-stream", SendContentMd5: true}
	options.DisableContentSha256 = content.Size() == 0 // a signed stream of nothing has no Content-Length
	if ifAbsent {
		if s.google {
			return fmt.Errorf("%w: Google's store has no condition on a write by the S3 protocol, so processes cannot share work there", fs.ErrPermission)
		}
		options.SetMatchETagExcept("*")
	}
	_, err := s.client.Client.PutObject(
		ctx,
		s.bucket,
		s.prefix+key,
		content,
		content.Size(),
		options,
	)
	return storeError(err)
}

func (s *s3Store) remove(ctx context.Context, key string) error {
	return storeError(s.client.RemoveObject(
		ctx,
		s.bucket,
		s.prefix+key,
		minio.RemoveObjectOptions{},
	))
}

// storeError wraps an error of the S3 client in the error that interface store documents, such
// as fs.ErrNotExist for a missing object.
func storeError(err error) error {
	response, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return err
	}
	switch {
	case response.Code == minio.NoSuchBucket:
		return fmt.Errorf("%w: %w", errNoBucket, err)
	case response.StatusCode == http.StatusNotFound:
		return fs.ErrNotExist
	case response.StatusCode == http.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	case response.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	default:
		return err
	}
}

// firstSet returns value or, if it is empty, the value of the first environment variable that is
// not empty.
func firstSet(value string, variables ...string) string {
	for _, name := range variables {
		if value == "" {
			value = os.Getenv(name)
		}
	}
	return value
}
