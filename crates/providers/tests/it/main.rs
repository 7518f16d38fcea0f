//! The provider APIs from outside: requests as they are sent, replies as servers send them.

mod provider;
