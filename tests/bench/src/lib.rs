//! Benchmarks of forbear beside its peers.
