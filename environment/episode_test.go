package environment_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/environment/toolserver"
	"github.com/trajectory-arena/arena/student"
)

// TestAFaultHasNoSecret ends the server of an episode's tools, whose address has a password and a key.
func TestAFaultHasNoSecret(t *testing.T) {
	t.Parallel()
	tools := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	mcp.AddTool(tools, &mcp.Tool{Name: "find"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{Stateless: true}))
	address := strings.Replace(web.URL, "://", "://user:hunter2canary@", 1) + "/mcp?api_key=sk-canary4711x9q2"
	server, err := toolserver.Open(t.Context(), address, "", &domain.Domain{})
	if err != nil {
		t.Fatal(err)
	}
	web.Close()
	e := &environment.Environment{
		Problems: student.Problems{IDs: []string{"p"}, All: []arena.Problem{{Query: "q"}}},
		Tools:    server,
		Limits:   environment.DefaultLimits(),
		Now:      time.Now,
		NewID:    func() string { return "id" },
	}
	episode, err := e.Start("p")
	if err != nil {
		t.Fatal(err)
	}
	_, fault, err := episode.Call(t.Context(), "find", "{}")
	if err != nil || fault == nil || fault.Kind != environment.FaultTools {
		t.Fatalf("%+v, %v", fault, err)
	}
	if !strings.Contains(fault.Reason, "connect to ") || strings.Contains(fault.Reason, "canary") {
		t.Error(fault.Reason)
	}
}

// TestNamesOfTools opens servers with a tool whose name is a path of the environment's own, or no
// segment of a path, and with one that is only like these.
func TestNamesOfTools(t *testing.T) {
	t.Parallel()
	for name, isRefused := range map[string]bool{
		"verify": true, "reward": true, "seed_session": true, "aggregate_metrics": true, "mcp": true, "files/read": true, "..": true,
		"verify_order": false, "files.read": false,
	} {
		tools := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
		tools.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, nil)
		web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{Stateless: true}))
		_, err := toolserver.Open(t.Context(), web.URL, "", &domain.Domain{})
		if (err != nil) != isRefused || isRefused && !strings.Contains(err.Error(), "cannot be called at /"+name) {
			t.Errorf("%s: %v", name, err)
		}
		web.Close()
	}
}
