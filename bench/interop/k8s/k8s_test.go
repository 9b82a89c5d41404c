// Package k8s holds deploy/k8s.yaml against the API's own types. It is a module of
// its own, so that the program needs none of them.
package k8s

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// strict decodes as the API server does where it is asked to be strict: case counts, and an
// unknown or repeated field is an error.
func strict(text []byte, into any) error {
	unknown, err := json.UnmarshalStrict(text, into)
	if err == nil && len(unknown) > 0 {
		err = fmt.Errorf("%v", unknown)
	}
	return err
}

func jobs(manifest string) (out []batch.Job, err error) {
	text, err := yaml.YAMLToJSONStrict([]byte(manifest))
	if err != nil {
		return nil, err
	}
	var list core.List
	if err := strict(text, &list); err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		var job batch.Job
		if err := strict(item.Raw, &job); err != nil {
			return nil, err
		}
		out = append(out, job)
	}
	return out, nil
}

func manifest(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/k8s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestManifestsAreJobs(t *testing.T) {
	all, err := jobs(manifest(t))
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, job := range all {
		if job.Kind != "Job" || job.APIVersion != batch.SchemeGroupVersion.String() {
			t.Errorf("%s is a %s of %s", job.Name, job.Kind, job.APIVersion)
		}
		steps = append(steps, job.Labels["step"])
		checkIndexed(t, &job.Spec, job.Labels["step"] == "group")
		checkHardened(t, &job.Spec.Template.Spec)
	}
	if want := []string{"map", "group", "write"}; !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
}

// checkIndexed checks that a job retries by index, has as many shards as indices unless they share
// their work, and fails an index at once on exit codes 2 and 3.
func checkIndexed(t *testing.T, job *batch.JobSpec, isShared bool) {
	t.Helper()
	if job.CompletionMode == nil || *job.CompletionMode != batch.IndexedCompletion || job.BackoffLimitPerIndex == nil {
		t.Error("a job has no retries by index")
	}
	args := strings.Join(job.Template.Spec.Containers[0].Args, " ")
	shard := fmt.Sprintf("--shard $(JOB_COMPLETION_INDEX)/%d ", *job.Completions)
	if strings.Contains(args+" ", shard) == isShared {
		t.Errorf("%q, and the shard would be %q", args, shard)
	}
	failed := slices.ContainsFunc(job.PodFailurePolicy.Rules, func(r batch.PodFailurePolicyRule) bool {
		return r.Action == batch.PodFailurePolicyActionFailIndex && slices.Equal(r.OnExitCodes.Values, []int32{2, 3})
	})
	if !failed || job.Template.Spec.RestartPolicy != core.RestartPolicyNever {
		t.Error("exits 2 and 3 do not fail an index at once")
	}
}

func checkHardened(t *testing.T, pod *core.PodSpec) {
	t.Helper()
	if s := pod.SecurityContext; s == nil || !*s.RunAsNonRoot || *s.RunAsUser != 65534 {
		t.Error("a pod may run as root or as another user than 65534")
	}
	if s := pod.Containers[0].SecurityContext; s == nil || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation {
		t.Error("a container may write to its root or gain rights")
	}
}

func TestStrictnessRefuses(t *testing.T) {
	good := manifest(t)
	for wrong, right := range map[string]string{
		"backofLimitPerIndex: 5":   "backoffLimitPerIndex: 5", // misspelt
		"BackoffLimitPerIndex: 5":  "backoffLimitPerIndex: 5", // in another case
		`completions: "4"`:         "completions: 4",          // of another type
		"parallelism: 4, x: 1":     "parallelism: 4",          // no YAML
		"kind: Job\n    kind: Job": "kind: Job",               // repeated
	} {
		bad := strings.Replace(good, right, wrong, 1)
		if _, err := jobs(bad); bad == good || err == nil {
			t.Errorf("%q passed for %q", wrong, right)
		}
	}
}
