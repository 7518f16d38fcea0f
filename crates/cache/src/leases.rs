//! Who is alive.
//!
//! A claim says that a process is asking. If that process is gone, its claims must not block anybody, and no time-out
//! can tell a dead process from a slow model. So each process holds an exclusive lock on a file of its own beside the
//! cache; the operating system lets go of it when the process ends, however it ends. Whoever can lock the file, or
//! finds none, knows that its owner is gone.
//!
//! Files are made, looked at and removed only while the database's write lock is held, so that nobody meets a file
//! between its making and its locking.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::CacheError;

/// How long an owner that was alive is believed to be; asking costs some system calls for each claim met.
const LIVENESS_TTL: Duration = Duration::from_secs(1);

/// One process (one writer) among those that share a cache.
#[derive(Debug)]
pub(crate) struct Owner {
    dir: PathBuf,
    id: i64,
    /// Holds the lock for as long as it is open.
    lock: Option<File>,
    seen_alive: HashMap<i64, Instant>,
}

impl Owner {
    /// Announces this process. The caller holds the database's write lock.
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

    /// Whether another owner is alive. The caller holds the database's write lock and, if the answer is no, deletes
    /// the claims of the dead.
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

    /// Removes the files of processes that are gone and gives their ids. The caller holds the database's write lock.
    pub(crate) fn sweep(&self) -> Vec<i64> {
        let files = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        files
            .filter_map(|file| owner_id(&file.path()))
            .filter(|id| *id != self.id && !holds_lock(&lock_path(&self.dir, *id)))
            .collect()
    }

    /// Takes leave. The caller holds the database's write lock if it can be had; without it the next process finds
    /// claims of an owner that has no file, which says the same.
    pub(crate) fn unregister(&mut self) {
        if self.lock.take().is_some() {
            // What stays behind is swept by the next process.
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

/// Whether a process holds the lock of this file; if none does, the file is removed.
fn holds_lock(path: &Path) -> bool {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return false,
        // Somebody else's file that we may not open: it is safer to believe in its owner.
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
