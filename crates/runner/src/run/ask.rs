//! Asking one evaluation: from the plan through claims and gates to the cache.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::ledger::Ledger;
use super::{BATCH, RunError, Shared, Stop, WAITING, walk_plan};
use crate::cache::{CacheError, Claim, Entry, EntryId, Response};
use crate::client::{RawReply, backoff};
use crate::event::EventKind;
use crate::gate::Gate;
use crate::plan::Planned;
use crate::provider::ReplyProblem;
use crate::{Completion, Eval, Finish, Provider};
