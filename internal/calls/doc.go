// Package calls reads the tool calls that models write as text, and what the
// arguments of a call name. Mended is what a filter takes for a call after mending
// what has one obvious meaning. What a student is graded by is read strictly, by the
// rules of its harness, in student/dialect.
package calls
