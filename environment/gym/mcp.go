package gym

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/environment"
)

func (s *server) mcp() http.Handler {
	return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		ep, unknown := s.environment.Find(session(r))
		if unknown != nil {
			return nil
		}
		return s.toolsOf(ep)
	}, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxArguments})
}

func (s *server) toolsOf(ep *environment.Episode) *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "arena", Version: "1"}, nil)
	for _, def := range s.environment.Harness.Tools {
		function := gjson.Get(string(def), "function")
		name := function.Get("name").Str
		m.AddTool(&mcp.Tool{
			Name: name, Description: function.Get("description").Str, InputSchema: json.RawMessage(function.Get("parameters").Raw),
		}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, fault, err := ep.Call(ctx, name, string(r.Params.Arguments))
			if err != nil {
				return nil, err
			}
			out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
			if fault != nil { // the episode is masked, whatever the model makes of it
				out.Content, out.IsError = []mcp.Content{&mcp.TextContent{Text: fault.Kind}}, true
			}
			return out, nil
		})
	}
	return m
}
