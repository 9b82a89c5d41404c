// Package gym serves an environment over HTTP as a NeMo-Gym resources server: a
// session by cookie, a POST for each tool, /verify for the reward; and the tools over
// MCP. NeMo-RL, verifiers, and the classes that `arena export --profile env` writes
// for TRL and verl speak to it.
package gym

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/traces"
)

// FailureStyle is how a failure of the environment is told.
type FailureStyle string

// A masked answer of status 200, as NeMo-RL reads it; status 503, by which verifiers
// and prime-rl leave a sample out.
const (
	Masked FailureStyle = "masked"
	Status FailureStyle = "status"
)

// Options are a server's own.
type Options struct {
	// Failures is the style for clients that name none in the header of StyleHeader.
	Failures FailureStyle
	// Token is what every request must carry as its bearer; empty for none.
	Token string
}

// The headers and the cookie of a session.
const (
	StyleHeader   = "X-Arena-Failures"
	SessionHeader = "X-NeMo-Gym-Session-Token"
	cookieName    = "arena_episode"
)

// Most bytes of a body: arguments of a call, and an account of a whole episode.
const (
	maxArguments = 256 << 10
	maxAccount   = 16 << 20
)

type server struct {
	environment *environment.Environment
	options     Options
}

// Handler serves the environment.
func Handler(e *environment.Environment, o Options) http.Handler {
	s := &server{environment: e, options: o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"status": "healthy"})
	})
	mux.HandleFunc("POST /seed_session", reading(maxAccount, s.seed))
	mux.HandleFunc("POST /verify", reading(maxAccount, s.verify))
	mux.HandleFunc("POST /aggregate_metrics", reading(4*maxAccount, s.aggregate))
	mux.HandleFunc("POST /{tool}", reading(maxArguments, s.call))
	mux.HandleFunc("POST /reward", reading(maxAccount, s.reward))
	mux.Handle("POST /mcp", s.mcp()) // without sessions it knows no other method
	return http.NewCrossOriginProtection().Handler(s.admitted(mux))
}

func (s *server) admitted(h http.Handler) http.Handler {
	if s.options.Token == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(given), []byte(s.options.Token)) != 1 {
			refuse(w, http.StatusUnauthorized, errors.New("the token is missing or another one: send it as Authorization: Bearer"))
			return
		}
		h.ServeHTTP(w, r)
	})
}

func (s *server) seed(w http.ResponseWriter, _ *http.Request, body []byte) {
	ep, err := s.environment.Start(gjson.GetBytes(body, "problem_id").String())
	switch {
	case errors.Is(err, environment.ErrUnknown):
		refuse(w, http.StatusNotFound, err)
	case errors.Is(err, environment.ErrRefused):
		refuse(w, http.StatusForbidden, err)
	case err != nil:
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, err)
	default:
		p, id := ep.Problem()
		remember(w, ep.ID)
		reply(w, http.StatusOK, map[string]any{
			"problem_id": id, "query": p.Query, "system": s.environment.Harness.System,
			"mcp": map[string]any{"server_name": "arena", "url_path": "/mcp", "transport": "http", "headers": map[string]string{SessionHeader: ep.ID}},
		})
	}
}

func session(r *http.Request) string {
	if c, err := r.Cookie(cookieName); err == nil {
		return c.Value
	}
	return r.Header.Get(SessionHeader)
}

// remember sets the cookie, which every reply must: clients keep that of the last
// alone.
func remember(w http.ResponseWriter, id string) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// call runs a tool. Its answer is the text that a model reads, and nothing else.
func (s *server) call(w http.ResponseWriter, r *http.Request, body []byte) {
	ep, unknown := s.environment.Find(session(r))
	if unknown != nil {
		s.failed(w, r, nil, unknown)
		return
	}
	remember(w, ep.ID)
	text, fault, err := ep.Call(r.Context(), r.PathValue("tool"), string(body))
	switch {
	case fault != nil:
		s.failed(w, r, nil, fault)
	case err != nil:
		refuse(w, http.StatusInternalServerError, err)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text) // the client is gone: nobody to tell
	}
}

// verify ends the episode and pays it. The row comes back with the reward.
func (s *server) verify(w http.ResponseWriter, r *http.Request, body []byte) {
	row := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &row); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	ep, unknown := s.environment.Find(session(r))
	if unknown != nil {
		s.failed(w, r, row, unknown)
		return
	}
	var said []environment.Reply // nil where the row says nothing
	if output := gjson.GetBytes(row["response"], "output"); output.Exists() {
		var err error
		if said, err = environment.ReadOutput(output); err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
	}
	verdict, err := ep.Finish(r.Context(), said)
	if err != nil && r.Context().Err() == nil {
		verdict.Fault = &environment.Fault{Kind: environment.FaultJudge, Reason: err.Error()}
	}
	if verdict.Fault != nil {
		s.failed(w, r, row, verdict.Fault)
		return
	}
	reply(w, http.StatusOK, paid(row, verdict))
}

func paid(row map[string]json.RawMessage, v environment.Verdict) map[string]any {
	out := answered(row)
	out["reward"], out["reward_components"], out["mask_sample"] = v.Reward.Total, environment.Components(v.Reward.Components), false
	out["success"], out["score"], out["quality"] = v.Success, v.Score, v.Quality
	for _, f := range v.Reward.Flags {
		out["flag_"+f] = 1
	}
	return out
}

func answered(row map[string]json.RawMessage) map[string]any {
	out := map[string]any{"responses_create_params": json.RawMessage(`{}`), "response": json.RawMessage(`null`)}
	for k, v := range row {
		out[k] = v
	}
	return out
}

// failed says that the environment failed, in the client's style. A tool's caller is
// always told by status: what it got as a text, the model would read.
func (s *server) failed(w http.ResponseWriter, r *http.Request, row map[string]json.RawMessage, f *environment.Fault) {
	style := FailureStyle(r.Header.Get(StyleHeader))
	if style != Masked && style != Status {
		style = s.options.Failures
	}
	if row == nil || style == Status {
		reply(w, http.StatusServiceUnavailable, f)
		return
	}
	out := answered(row)
	config := map[string]any{}
	_ = json.Unmarshal(row["instance_config"], &config) // what is no object is replaced
	config["mask_sample"] = true
	out["reward"], out["mask_sample"], out["instance_config"] = 0, true, config
	out["failure_kind"], out["failure_reason"] = f.Kind, f.Reason
	reply(w, http.StatusOK, out)
}

func (s *server) aggregate(w http.ResponseWriter, _ *http.Request, body []byte) {
	n, masked, sum, solved := 0, 0, 0.0, 0
	for _, v := range gjson.GetBytes(body, "verify_responses").Array() {
		if v.Get("mask_sample").Bool() {
			masked++
			continue
		}
		n++
		sum += v.Get("reward").Float()
		if v.Get("success").Bool() {
			solved++
		}
	}
	m := map[string]any{"scored": n, "masked": masked}
	if n > 0 {
		m["mean/reward"], m["mean/success"] = sum/float64(n), float64(solved)/float64(n)
	}
	reply(w, http.StatusOK, map[string]any{"group_level_metrics": []any{}, "agent_metrics": m, "key_metrics": m})
}

// reward pays a trajectory that was played elsewhere, in any format that a day may
// hold on a line, as `arena env reward` does.
func (s *server) reward(w http.ResponseWriter, r *http.Request, body []byte) {
	t, err := traces.Decode(body, traces.Defaults().Limits)
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	line, err := s.environment.RewardTrace(r.Context(), t)
	if err != nil {
		line.Failure = environment.FaultJudge + ": " + err.Error()
	}
	reply(w, http.StatusOK, line)
}

// reading has do answer a request with its body, and refuses one of more bytes than most
// or that is no JSON.
func reading(most int64, do func(w http.ResponseWriter, r *http.Request, body []byte)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
		switch _, large := errors.AsType[*http.MaxBytesError](err); {
		case large:
			refuse(w, http.StatusRequestEntityTooLarge, err)
		case err != nil:
			refuse(w, http.StatusBadRequest, err)
		case !json.Valid(body):
			refuse(w, http.StatusBadRequest, errors.New("the body is not JSON"))
		default:
			do(w, r, body)
		}
	}
}

func refuse(w http.ResponseWriter, status int, err error) {
	reply(w, status, map[string]string{"error": err.Error()})
}

func reply(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // what came in goes out as it was
	if err := e.Encode(v); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client is gone: nobody to tell
}
