//! The messages of a conversation, as every provider takes them.

use std::str::FromStr;

use serde_json::{Value, json};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The instruction before the conversation.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::System, Self::User, Self::Assistant];

    /// The name that providers know.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl FromStr for Role {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|role| role.name() == name).ok_or(())
    }
}

/// One turn of a talk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The text.
    pub content: String,
}

impl Message {
    /// The message as chat APIs take it.
    pub fn to_json(&self) -> Value {
        json!({ "role": self.role.name(), "content": self.content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_round_trip() {
        for role in Role::ALL {
            assert_eq!(role.name().parse(), Ok(role));
        }
    }
}
