//! Detects which processes are alive.
//!
//! A claim records that a process sends a request. If that process has ended, its claims must not block others, and no
//! timeout can distinguish a dead process from a slow model. So each process holds an exclusive lock on its own file beside
//! the cache; the operating system releases it when the process ends for any reason. If the file is missing or can be
//! locked, its owner has ended.
//!
//! Files are created, checked and removed only while the database's write lock is held, so that no process sees a file
//! that exists but isn't locked yet.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::CacheError;

/// How long to assume that an owner is still alive; each check costs several system calls.
const LIVENESS_TTL: Duration = Duration::from_secs(1);

/// One process (one writer) of those that share a cache.
#[derive(Debug)]
pub(crate) struct Owner {
    dir: PathBuf,
    id: i64,
    /// Holds the lock while it is open.
    lock: Option<File>,
    seen_alive: HashMap<i64, Instant>,
}

impl Owner {
    /// Registers this process. The caller holds the database's write lock.
    pub(crate) fn register(cache: &Path) -> Result<Self, CacheError> {
        let mut dir = cache.as_os_str().to_owned();
        dir.push(".owners");
        let dir = PathBuf::from(dir);
        std::fs::create_dir_all(&dir).map_err(CacheError::from_io(&dir))?;
        loop {
            // The standard library seeds each hasher at random; an id that exists is drawn again.
            let id = (RandomState::new().build_hasher().finish() >> 1) as i64;
            let path = lock_path(&dir, id);
            let file = match File::create_new(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(CacheError::from_io(&path)(error)),
            };
            return match file.try_lock() {
                Ok(()) => Ok(Self { dir, id, lock: Some(file), seen_alive: HashMap::new() }),
                Err(_) => Err(CacheError::NotShareable { path: cache.to_owned() }),
            };
        }
    }

    pub(crate) fn id(&self) -> i64 {
        self.id
    }

    /// Whether another owner is alive. The caller holds the database's write lock and deletes the claims of dead owners.
    pub(crate) fn is_alive(&mut self, other: i64) -> bool {
        if other == self.id || self.seen_alive.get(&other).is_some_and(|seen| seen.elapsed() < LIVENESS_TTL) {
            return true;
        }
        let alive = holds_lock(&lock_path(&self.dir, other));
        if alive {
            self.seen_alive.insert(other, Instant::now());
        } else {
            self.seen_alive.remove(&other);
        }
        alive
    }

    /// Removes the files of ended processes and returns their ids. The caller holds the database's write lock.
    pub(crate) fn sweep(&self) -> Vec<i64> {
        let files = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        files
            .filter_map(|file| owner_id(&file.path()))
            .filter(|id| *id != self.id && !holds_lock(&lock_path(&self.dir, *id)))
            .collect()
    }

    /// Unregisters this process. The caller holds the database's write lock if possible; without it, the next process finds
    /// claims of an owner without a file, which has the same meaning.
    pub(crate) fn unregister(&mut self) {
        if self.lock.take().is_some() {
            // A file that can't be removed is left to the next process.
            let _ = std::fs::remove_file(lock_path(&self.dir, self.id));
            let _ = std::fs::remove_dir(&self.dir);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.unregister();
    }
}

fn lock_path(dir: &Path, id: i64) -> PathBuf {
    dir.join(format!("{id:016x}.lock"))
}

fn owner_id(path: &Path) -> Option<i64> {
    let name = path.file_name()?.to_str()?.strip_suffix(".lock")?;
    i64::from_str_radix(name, 16).ok().filter(|_| name.len() == 16)
}

/// Whether a process holds the lock of this file; if not, the file is removed.
fn holds_lock(path: &Path) -> bool {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return false,
        // A file that can't be opened, such as another user's: assume that its owner is alive.
        Err(_) => return true,
    };
    match file.try_lock() {
        Ok(()) => {
            drop(file);
            let _ = std::fs::remove_file(path);
            false
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_is_alive_until_it_unregisters() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("cache.sqlite");
        let mut one = Owner::register(&cache).unwrap();
        let two = Owner::register(&cache).unwrap();
        let id = two.id();
        assert!(one.is_alive(one.id()) && one.is_alive(id));
        assert!(one.sweep().is_empty());
        drop(two);
        one.seen_alive.clear();
        assert!(!one.is_alive(id));
        drop(one);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn sweep_removes_only_files_of_dead_owners() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("cache.sqlite");
        let owner = Owner::register(&cache).unwrap();
        let dead = lock_path(&owner.dir, 42);
        std::fs::write(&dead, "").unwrap();
        std::fs::write(owner.dir.join("notes.txt"), "").unwrap();
        assert_eq!(owner.sweep(), [42]);
        assert!(!dead.exists() && owner.dir.join("notes.txt").exists());
    }
}
