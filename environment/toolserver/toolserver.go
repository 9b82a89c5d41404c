// Package toolserver runs the calls of episodes at the tools of an MCP server of any domain, and
// writes episodes as traces.
package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/webclient"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/traces"
)

// Limits of an MCP server's replies. maxReply is the maximum size of one reply in bytes: beyond it,
// the call fails. maxText is the maximum size in bytes of a result that the model reads: beyond it, the
// model reads an error text, since it could not know that a result that was cut is not whole.
const (
	maxReply = 64 << 20
	maxText  = 1 << 20
)

// unusable matches the names of tools that cannot be called at /NAME: the paths of package gym, where
// a call of "verify" would end the episode, and what is no segment of a path.
var unusable = regexp.MustCompile(`(?s)^(seed_session|verify|aggregate_metrics|reward|mcp|\.*|.*[/?#%].*)$`)

// Server is an MCP server whose tools episodes call.
type Server struct {
	// Tools are the tools as OpenAI tool definitions, one JSON object each.
	Tools []arena.Raw
	// System is the system prompt of the recorded episodes; "" for none.
	System string

	domain *domain.Domain
	url    string
	client *http.Client
	names  []string
}

// Open returns the MCP server at an HTTP address with its tools. key is the bearer token that the
// server requires, "" for none; no other server receives it. It returns an error if the server does
// not answer, has no tools, or has one whose name is reserved or no segment of a path. Tools with
// the role end of the domain end an episode.
func Open(ctx context.Context, url, key string, d *domain.Domain) (*Server, error) {
	s := &Server{
		domain: d,
		url:    url,
		client: webclient.NewWithKey(key, maxReply),
	}
	session, err := s.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // the list of tools was read
	for tool, err := range session.client.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list the tools of %s: %w", url, err)
		}
		if unusable.MatchString(tool.Name) {
			return nil, fmt.Errorf("the server at %s has a tool %q, which cannot be called at /%[2]s", url, tool.Name)
		}
		s.names = append(s.names, tool.Name)
		s.Tools = append(s.Tools, arena.Raw(asjson.Bytes(map[string]any{
			"type": "function",
			"function": map[string]any{
				"name":        tool.Name,
				"description": tool.Description,
				"parameters":  tool.InputSchema,
			},
		})))
	}
	if len(s.names) == 0 {
		return nil, fmt.Errorf("the server at %s has no tools", url)
	}
	return s, nil
}

// Session runs the calls of one episode. Each episode has an MCP session of its own, so that a
// server with state per session keeps episodes apart.
type Session struct {
	server *Server
	client *mcp.ClientSession
}

// Start starts the session of an episode.
func (s *Server) Start(ctx context.Context) (*Session, error) {
	client := mcp.NewClient(&mcp.Implementation{
		Name:    "arena",
		Version: "1",
	}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:             s.url,
		HTTPClient:           s.client,
		DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", s.url, err)
	}
	return &Session{server: s, client: session}, nil
}

// Close ends the session.
func (s *Session) Close() error { return s.client.Close() }

// RunCall executes one call. A call that cannot be read, or of a tool that does not exist, is not
// sent: its result is an error text. The fault is that of a server that did not answer.
func (s *Session) RunCall(ctx context.Context, c model.Call) (rollout.CallResult, *model.Fault) {
	if text := s.server.refusal(c); text != "" {
		return rollout.CallResult{Text: text}, nil
	}
	result, err := s.client.CallTool(ctx, &mcp.CallToolParams{
		Name:      c.Function.Name,
		Arguments: json.RawMessage(c.Function.Arguments),
	})
	refused, isRefused := errors.AsType[*jsonrpc.Error](err)
	var text string
	switch {
	case err == nil:
		text = resultText(result)
		if len(text) > maxText {
			text = fmt.Sprintf("Error: the result has %d bytes, and at most %d are passed on. Ask for less.", len(text), maxText)
		}
	case isRefused && refused.Code == jsonrpc.CodeInvalidParams: // the arguments are the model's
		text = "Error: " + refused.Message
	default:
		return rollout.CallResult{}, &model.Fault{
			Kind:   model.Network,
			Reason: "tools_unreachable",
			Detail: err.Error(),
		}
	}
	return rollout.CallResult{
		Text:       text,
		Answers:    []rollout.TapeAnswer{{Body: text, OK: true}},
		Terminates: s.server.domain.Tools[c.Function.Name].Role == domain.RoleEnd,
	}, nil
}

// refusal returns an error text for the model if its call cannot be sent to the server, since the
// arguments are no JSON object or there is no such tool. It returns "" for any other call.
func (s *Server) refusal(c model.Call) string {
	arguments := c.Function.Arguments
	switch {
	case !gjson.Valid(arguments) || !gjson.Parse(arguments).IsObject():
		return "Error: the arguments are not a JSON object."
	case !slices.Contains(s.names, c.Function.Name):
		return fmt.Sprintf("Error: there is no tool %q; the tools are %s.", c.Function.Name, strings.Join(s.names, ", "))
	}
	return ""
}

// resultText returns the texts of a result, or else all of its content as JSON.
func resultText(r *mcp.CallToolResult) string {
	var texts []string
	for _, content := range r.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
			continue
		}
		texts = append(texts, string(asjson.Bytes(content)))
	}
	if len(texts) == 0 && r.StructuredContent != nil {
		return string(asjson.Bytes(r.StructuredContent))
	}
	return strings.Join(texts, "\n")
}

// Dialogue converts the trace of Replay to a dialogue, without the calls of tools that do not exist.
func (s *Server) Dialogue(t *arena.Trace) arena.Dialogue {
	d := filters.Normalise(t)
	for i := range d.Turns {
		turn := &d.Turns[i]
		turn.Calls = slices.DeleteFunc(turn.Calls, func(c arena.Call) bool {
			return !slices.Contains(s.names, c.Name)
		})
	}
	return d
}

// message is one message of a recorded conversation, as JSON in the form of OpenAI.
type message struct {
	Role      string       `json:"role"`
	Content   string       `json:"content"`
	Reasoning string       `json:"reasoning_content,omitempty"`
	Calls     []model.Call `json:"tool_calls,omitempty"`
	CallID    string       `json:"tool_call_id,omitempty"`
}

// Replay returns the turns of a finished episode as a trace, from their stored answers and without
// asking the server. declared is the outcome that the trainer declared, nil if none.
func (s *Server) Replay(t rollout.Task, declared *float64) (*rollout.Result, error) {
	result := &rollout.Result{Turns: len(t.Past)}
	var messages []message
	if s.System != "" {
		messages = append(messages, message{Role: "system", Content: s.System})
	}
	messages = append(messages, message{Role: "user", Content: t.Problem.Query})
	for _, turn := range t.Past {
		reply, err := model.ReadTurn(turn.Reply)
		if err != nil {
			return nil, fmt.Errorf("replay an episode: %w", err)
		}
		messages = append(messages, message{
			Role:      "assistant",
			Content:   reply.Content,
			Reasoning: reply.Reasoning,
			Calls:     reply.Calls,
		})
		answers := turn.Answers
		for _, c := range reply.Calls {
			text := s.refusal(c)
			if text != "" {
				result.MalformedCalls++
			} else if len(answers) > 0 {
				text = answers[0].Body
				answers = answers[1:]
			}
			messages = append(messages, message{
				Role:    "tool",
				Content: text,
				CallID:  c.ID,
			})
		}
	}

	line := map[string]any{ // without a run id: the folder of a recorded run has it
		"problem_id": t.ID,
		"tools":      slicesx.Map(s.Tools, func(r arena.Raw) json.RawMessage { return json.RawMessage(r) }),
		"messages":   messages,
	}
	if declared != nil {
		line["reward"] = *declared
	}
	result.Line = asjson.Bytes(line)
	trace, err := traces.Decode(result.Line, traces.DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("replay an episode: %w", err)
	}
	trace.RunID = t.RunID
	result.Trace = trace
	return result, nil
}
