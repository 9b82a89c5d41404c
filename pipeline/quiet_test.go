package pipeline

// TrustAllFiles has r store the hashes of files that changed a moment ago, too.
func TrustAllFiles(r *Run) { r.quiet = 1 }

// CutInto has r store a segment of an input after each size bytes of attempts.
func CutInto(r *Run, size int64) { r.segmentBytes = size }

// BatchFrom lets a run encode rows of tables in batches of at least this many records.
func BatchFrom(r *Run, records int) { r.minBatch = records }
