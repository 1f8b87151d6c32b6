//! What spans say of a call site that asks a model.

use std::sync::Arc;

use crate::core::setting::InvalidSetting;

/// What a call site asks a model for, in the words of OpenTelemetry's conventions for generative AI. Only spans show it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GenAi {
    /// `gen_ai.operation.name`.
    pub(crate) operation: Option<Arc<str>>,
    /// `gen_ai.request.model`, where the pool's path does not name it or names another.
    pub(crate) model: Option<Arc<str>>,
}

impl GenAi {
    /// The words are the application's own, but they become a span's name: plain ones, and not too long.
    pub(super) fn check(&self) -> Result<(), InvalidSetting> {
        let plain = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if let Some(operation) = &self.operation
            && !((1..=64).contains(&operation.len()) && plain(operation))
        {
            return Err(InvalidSetting::new("policy.gen_ai_operation", operation, "1 to 64 of a-z, 0-9 and _"));
        }
        if let Some(model) = &self.model
            && (!(1..=128).contains(&model.chars().count()) || model.chars().any(char::is_control))
        {
            return Err(InvalidSetting::new("policy.gen_ai_model", model, "1 to 128 characters, none of them control"));
        }
        Ok(())
    }
}
