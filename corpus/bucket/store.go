package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"

	"github.com/cenkalti/backoff/v5"
)

// store is a folder of an object store. Its errors wrap fs.ErrNotExist if an object does not
// exist, fs.ErrExist if put with ifAbsent finds an object, and fs.ErrPermission if access is
// denied. Its methods are safe for concurrent use.
type store interface {
	// list returns the sorted names of all objects whose name begins with prefix.
	list(ctx context.Context, prefix string) ([]string, error)
	// get copies an object to w.
	get(ctx context.Context, key string, w io.Writer) error
	// put writes an object completely or not at all. With ifAbsent, it writes only if no object
	// has that name.
	put(ctx context.Context, key string, content *io.SectionReader, ifAbsent bool) error
	// remove removes an object. For a missing object, the error may be fs.ErrNotExist.
	remove(ctx context.Context, key string) error
}

// openStore opens the store at a URL. If create is true, it creates a missing folder on disk.
func openStore(u *url.URL, create bool) (store, error) {
	switch u.Scheme {
	case "s3":
		return openS3(u)
	case "file":
		return openFolder(u, create)
	case "gs":
		return nil, errors.New("write it as s3://bucket/folder?endpoint=https://storage.googleapis.com, " +
			"with an HMAC key of the bucket in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: Google's store is used by its S3 protocol")
	case "azblob":
		return nil, errors.New("the store of Azure has no S3 protocol, which is what is spoken here: " +
			"put a gateway such as S3Proxy before it and name that, s3://container/folder?endpoint=http://…, or write a folder and copy it with azcopy")
	default:
		return nil, fmt.Errorf("no store is known by %s://", u.Scheme)
	}
}

// parameters returns the query parameters of a URL. It returns an error for a parameter that is
// not in known.
func parameters(u *url.URL, known ...string) (map[string]string, error) {
	values := map[string]string{}
	for name, list := range u.Query() {
		values[name] = list[0]
	}
	unknown := map[string]bool{}
	for name := range values {
		unknown[name] = true
	}
	for _, name := range known {
		delete(unknown, name)
	}
	for name := range unknown {
		return nil, fmt.Errorf("no parameter %q is known; there are %q", name, known)
	}
	return values, nil
}

// maxTries is the maximum number of times that a request is sent. All stores return errors or
// close connections under load. The pauses between tries start at about half a second and grow.
const maxTries = 5

// retried calls request until it succeeds, and returns its result. It stops after maxTries
// calls, or at an error that a retry cannot change, such as a missing object.
func retried[T any](ctx context.Context, request func() (T, error)) (T, error) {
	return backoff.Retry(ctx, func() (T, error) {
		v, err := request()
		if isPermanent(err) {
			err = backoff.Permanent(err)
		}
		return v, err
	}, backoff.WithMaxTries(maxTries))
}

// isPermanent reports whether a request that failed with err would fail again.
func isPermanent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errNoBucket)
}
