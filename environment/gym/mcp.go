package gym

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/environment"
)

// mcpHandler returns a handler that serves the tools of the request's episode over MCP, the Model
// Context Protocol. It rejects requests of unknown episodes.
func (s *server) mcpHandler() http.Handler {
	serverFor := func(r *http.Request) *mcp.Server {
		ep, unknown := s.environment.Find(sessionID(r))
		if unknown != nil {
			return nil
		}
		return s.newMCPServer(ep)
	}
	return mcp.NewStreamableHTTPHandler(serverFor, &mcp.StreamableHTTPOptions{
		Stateless:           true,
		JSONResponse:        true,
		MaxRequestBodyBytes: maxArguments,
	})
}

// newMCPServer returns an MCP server with the tools of the harness. Calls of these tools run in the
// episode ep.
func (s *server) newMCPServer(ep *environment.Episode) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{
		Name:    "arena",
		Version: "1",
	}, nil)
	for _, schema := range s.environment.Harness.Tools {
		function := gjson.Get(string(schema), "function")
		name := function.Get("name").Str
		tool := &mcp.Tool{
			Name:        name,
			Description: function.Get("description").Str,
			InputSchema: json.RawMessage(function.Get("parameters").Raw),
		}
		server.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, fault, err := ep.Call(ctx, name, string(r.Params.Arguments))
			if err != nil {
				return nil, err
			}
			if fault != nil { // the episode is masked, so the model may read this
				return &mcp.CallToolResult{Content: textContent(fault.Kind), IsError: true}, nil
			}
			return &mcp.CallToolResult{Content: textContent(text)}, nil
		})
	}
	return server
}

func textContent(text string) []mcp.Content {
	return []mcp.Content{&mcp.TextContent{Text: text}}
}
