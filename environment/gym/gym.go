// Package gym serves an environment over HTTP as a NeMo-Gym resources server: a session by
// cookie, a POST for each tool, /verify for the reward; and the tools over MCP. Its clients
// are NeMo-RL, verifiers, and the classes that `arena export --profile env` writes for TRL
// and verl.
package gym

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/traces"
)

// FailureStyle is how a failure of the environment is reported.
type FailureStyle string

// The failure styles.
const (
	Masked FailureStyle = "masked" // status 200 with a masked sample, for NeMo-RL
	Status FailureStyle = "status" // status 503, for verifiers and prime-rl
)

// Options configure a server.
type Options struct {
	// Failures is the style for clients that do not set StyleHeader.
	Failures FailureStyle
	// Token is the bearer token that every request must have; empty for none.
	Token string
}

// The headers and the cookie of a session.
const (
	StyleHeader   = "X-Arena-Failures"
	SessionHeader = "X-NeMo-Gym-Session-Token"
	cookieName    = "arena_episode"
)

// Limits of the bodies of requests in bytes: the arguments of a call, and the replies of an
// episode.
const (
	maxArguments = 256 << 10
	maxReplies   = 16 << 20
)

type server struct {
	environment *environment.Environment
	options     Options
}

// Handler returns a handler that serves the environment.
func Handler(e *environment.Environment, o Options) http.Handler {
	s := &server{environment: e, options: o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"status": "healthy"})
	})
	mux.HandleFunc("POST /seed_session", withBody(maxReplies, s.handleSeed))
	mux.HandleFunc("POST /verify", withBody(maxReplies, s.handleVerify))
	mux.HandleFunc("POST /aggregate_metrics", withBody(4*maxReplies, s.handleAggregate))
	mux.HandleFunc("POST /{tool}", withBody(maxArguments, s.handleCall))
	mux.HandleFunc("POST /reward", withBody(maxReplies, s.handleReward))
	mux.Handle("POST /mcp", s.mcpHandler()) // without sessions MCP has no other method
	return http.NewCrossOriginProtection().Handler(s.withToken(mux))
}

// withToken returns a handler that rejects requests without the bearer token of the options, if one
// is configured, with status 401. Others have as long to answer as an episode may last, since a tool
// may take that long, and a minute more to write the answer.
func (s *server) withToken(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if s.options.Token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(s.options.Token)) != 1 {
			writeError(w, http.StatusUnauthorized, errors.New("the token is missing or another one: send it as Authorization: Bearer"))
			return
		}
		end := s.environment.Now().Add(s.environment.Limits.Age + time.Minute)
		_ = http.NewResponseController(w).SetWriteDeadline(end) // fails only without a connection
		h.ServeHTTP(w, r)
	})
}

// handleSeed starts an episode at the problem_id of the request. It answers with the request text,
// the system prompt and the address of the tools, and sets the cookie that identifies the episode.
func (s *server) handleSeed(
	w http.ResponseWriter,
	_ *http.Request,
	body []byte,
) {
	ep, err := s.environment.Start(gjson.GetBytes(body, "problem_id").String())
	switch {
	case errors.Is(err, environment.ErrUnknown):
		writeError(w, http.StatusNotFound, err)
		return
	case errors.Is(err, environment.ErrRefused):
		writeError(w, http.StatusForbidden, err)
		return
	case err != nil:
		w.Header().Set("Retry-After", "10")
		writeError(w, http.StatusServiceUnavailable, err)
		return
	}

	p, id := ep.Problem()
	setCookie(w, ep.ID)
	writeJSON(w, http.StatusOK, map[string]any{
		"problem_id": id,
		"query":      p.Query,
		"system":     s.environment.Harness.System,
		"mcp": map[string]any{
			"server_name": "arena",
			"url_path":    "/mcp",
			"transport":   "http",
			"headers":     map[string]string{SessionHeader: ep.ID},
		},
	})
}

// sessionID returns the id of the episode that the request belongs to, from its cookie or else from
// SessionHeader; empty if it has neither.
func sessionID(r *http.Request) string {
	if c, err := r.Cookie(cookieName); err == nil {
		return c.Value
	}
	return r.Header.Get(SessionHeader)
}

// setCookie sets the cookie with the id of the episode. Every answer must set it, since clients
// retain only the cookies of the last answer.
func setCookie(w http.ResponseWriter, id string) {
	http.SetCookie(w, &http.Cookie{
		Name:     cookieName,
		Value:    id,
		Path:     "/",
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
}

// handleCall runs the tool named in the path, with the body of the request as its arguments. The
// answer is only the text that a model reads, without JSON around it.
func (s *server) handleCall(
	w http.ResponseWriter,
	r *http.Request,
	body []byte,
) {
	ep, unknown := s.environment.Find(sessionID(r))
	if unknown != nil {
		s.writeFault(w, r, nil, unknown)
		return
	}
	setCookie(w, ep.ID)
	text, fault, err := ep.Call(
		r.Context(),
		r.PathValue("tool"),
		string(body),
	)
	switch {
	case fault != nil:
		s.writeFault(w, r, nil, fault)
	case err != nil:
		writeError(w, http.StatusInternalServerError, err)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text) // fails only if the client has disconnected
	}
}

// handleVerify ends the episode and computes its reward. It answers with the JSON object of the
// request, to which the reward is added.
func (s *server) handleVerify(
	w http.ResponseWriter,
	r *http.Request,
	body []byte,
) {
	row := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &row); err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	ep, unknown := s.environment.Find(sessionID(r))
	if unknown != nil {
		s.writeFault(w, r, row, unknown)
		return
	}
	var replies []environment.Reply // nil if the row has none
	if output := gjson.GetBytes(row["response"], "output"); output.Exists() {
		var err error
		if replies, err = environment.ReadOutput(output); err != nil {
			writeError(w, http.StatusBadRequest, err)
			return
		}
	}

	if declared := row["declared"]; declared != nil {
		var outcome *float64 // nil if the outcome is null, which is unknown and not 0
		if err := json.Unmarshal(declared, &outcome); err != nil {
			writeError(w, http.StatusBadRequest, fmt.Errorf("read declared, the outcome of the episode: %w", err))
			return
		}
		ep.Declare(outcome)
	}

	verdict, err := ep.Finish(r.Context(), replies)
	if err != nil && r.Context().Err() == nil {
		verdict.Fault = environment.NewFault(environment.FaultJudge, err.Error())
	}
	if verdict.Fault != nil {
		s.writeFault(w, r, row, verdict.Fault)
		return
	}
	writeJSON(w, http.StatusOK, rewardedRow(row, verdict))
}

// rewardedRow returns a copy of a request's JSON object, to which the reward of the episode is
// added, with its parts, the scores of the answer, and flags for signs of reward hacking.
func rewardedRow(row map[string]json.RawMessage, v environment.Verdict) map[string]any {
	out := answerRow(row)
	out["reward"] = v.Reward.Total
	out["reward_components"] = environment.Components(v.Reward.Components)
	out["mask_sample"] = false
	out["success"] = v.Success
	out["score"] = v.Score
	out["quality"] = v.Quality
	for _, flag := range v.Reward.Flags {
		out["flag_"+flag] = 1
	}
	return out
}

// answerRow returns a copy of a request's JSON object. It adds empty values for
// responses_create_params and response if the request lacks them, since every answer must have
// both.
func answerRow(row map[string]json.RawMessage) map[string]any {
	out := map[string]any{
		"responses_create_params": json.RawMessage(`{}`),
		"response":                json.RawMessage(`null`),
	}
	for key, value := range row {
		out[key] = value
	}
	return out
}

// writeFault writes the answer to a request that failed because of the environment, not the model.
// By the request's header or else the options, the answer has status 503, or status 200 and a copy
// of row (the request's JSON object) that marks the sample as not to be trained on. For the call of
// a tool, row is nil and the status always 503, since a model would read any text as a result.
func (s *server) writeFault(
	w http.ResponseWriter,
	r *http.Request,
	row map[string]json.RawMessage,
	f *environment.Fault,
) {
	style := FailureStyle(r.Header.Get(StyleHeader))
	if style != Masked && style != Status {
		style = s.options.Failures
	}
	if row == nil || style == Status {
		writeJSON(w, http.StatusServiceUnavailable, f)
		return
	}
	config := map[string]any{}
	_ = json.Unmarshal(row["instance_config"], &config) // replaced if it is no object
	config["mask_sample"] = true

	out := answerRow(row)
	out["reward"] = 0
	out["mask_sample"] = true
	out["instance_config"] = config
	out["failure_kind"] = f.Kind
	out["failure_reason"] = f.Reason
	writeJSON(w, http.StatusOK, out)
}

// handleAggregate computes the metrics of a batch of /verify answers: how many samples are scored
// and masked and how many state no reward, how many scored ones have thoughts that could not be
// compared, the mean reward of the scored ones, how many of them have a known outcome, and the mean
// success of these.
func (s *server) handleAggregate(
	w http.ResponseWriter,
	_ *http.Request,
	body []byte,
) {
	scored := 0
	masked := 0
	unrewarded := 0
	known := 0
	solved := 0
	uncompared := 0
	sum := 0.0
	for _, v := range gjson.GetBytes(body, "verify_responses").Array() {
		if v.Get("mask_sample").Bool() {
			masked++
			continue
		}
		reward := v.Get("reward")
		if reward.Type != gjson.Number { // an unknown reward is not 0
			unrewarded++
			continue
		}
		scored++
		if v.Get("flag_" + environment.FlagUncompared).Bool() {
			uncompared++
		}
		sum += reward.Num
		if success := v.Get("success"); success.IsBool() { // an unknown outcome is null
			known++
			if success.Bool() {
				solved++
			}
		}
	}
	metrics := map[string]any{"scored": scored, "masked": masked, "unrewarded": unrewarded, "uncompared_thoughts": uncompared, "known_outcomes": known}
	if scored > 0 {
		metrics["mean/reward"] = sum / float64(scored)
	}
	if known > 0 {
		metrics["mean/success"] = float64(solved) / float64(known)
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"group_level_metrics": []any{},
		"agent_metrics":       metrics,
		"key_metrics":         metrics,
	})
}

// handleReward computes the reward of a finished trajectory from another system, as `arena env
// reward` does. The body may have any trace format that arena reads.
func (s *server) handleReward(
	w http.ResponseWriter,
	r *http.Request,
	body []byte,
) {
	t, err := traces.Decode(body, traces.Defaults().Limits)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	line, err := s.environment.Rewarder.RewardTrace(r.Context(), t)
	if err != nil {
		fault := environment.NewFault(environment.FaultJudge, err.Error())
		line.Failure = fault.Kind + ": " + fault.Reason
	}
	writeJSON(w, http.StatusOK, line)
}

// bodyHandler is a function that answers a request whose body was already read.
type bodyHandler func(w http.ResponseWriter, r *http.Request, body []byte)

// withBody returns a handler that reads the body and calls handle. It rejects bodies of
// more than maxBytes and those that are not JSON.
func withBody(maxBytes int64, handle bodyHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			writeError(w, http.StatusRequestEntityTooLarge, err)
			return
		}
		if err != nil {
			writeError(w, http.StatusBadRequest, err)
			return
		}
		if !json.Valid(body) {
			writeError(w, http.StatusBadRequest, errors.New("the body is not JSON"))
			return
		}
		handle(w, r, body)
	}
}

func writeError(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, map[string]string{"error": err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	// The row of a request is returned unchanged, with <, > and & unescaped.
	if err := asjson.NewEncoder(&b).Encode(v); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // fails only if the client has disconnected
}
