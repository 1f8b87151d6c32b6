//! What each provider says and where: one table per file, all of one shape.
