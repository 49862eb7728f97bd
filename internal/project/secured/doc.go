// Package secured proves on one real broker that every driver takes the client.properties that Kafka's own tools take.
// It also proves that the guide's list of rights is exactly what a run needs. The broker has a listener for each
// mechanism, and ACLs.
//
// Files to know: forms_proof_test.go, rights_proof_test.go.
package secured
