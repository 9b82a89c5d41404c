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
