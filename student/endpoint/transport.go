package endpoint

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/student/wire"
)

// way is how one endpoint is asked: a transport, and the request without its
// body. An http.Client between them would follow redirects, and prompts and the
// key are for the server that they are meant for.
type way struct {
	transport
	post *http.Request
}

type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

func newWay(base, key string, connections int) (way, error) {
	post, err := http.NewRequest(http.MethodPost, strings.TrimRight(base, "/")+"/chat/completions", http.NoBody)
	if err != nil {
		return way{}, fmt.Errorf("prepare requests to %s: %w", base, err)
	}
	post.Header.Set("Content-Type", "application/json")
	// Without it any encoding would be welcome.
	post.Header.Set("Accept-Encoding", "identity")
	if user := post.URL.User; user != nil {
		password, _ := user.Password()
		post.SetBasicAuth(user.Username(), password)
	}
	if key != "" {
		post.Header.Set("Authorization", "Bearer "+key)
	}
	return way{newTransport(post, connections), post}, nil
}

// newTransport is how requests like this one travel: by wires where they go
// straight to their server and in the clear, as to one of one's own, and as
// net/http does it where there is a proxy, or TLS with HTTP/2 in it.
func newTransport(post *http.Request, connections int) transport {
	// As long as net/http itself gives: a host that is switched off answers nothing,
	// and the system would wait for two minutes.
	const connecting = 30 * time.Second
	dial := (&net.Dialer{Timeout: connecting}).DialContext
	if proxy, err := http.ProxyFromEnvironment(post); post.URL.Scheme == "http" && proxy == nil && err == nil {
		return &wire.Transport{Dial: dial}
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, DisableCompression: true,
		DialContext: dial, ForceAttemptHTTP2: true,
	}
}
