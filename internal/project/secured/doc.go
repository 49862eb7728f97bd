// Package secured proves on one real broker, with a listener for each mechanism and with ACLs, that every driver takes
// the same client.properties as Kafka's own tools, and that the guide's list of rights is exactly what a run needs.
package secured
