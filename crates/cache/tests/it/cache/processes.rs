//! Several processes on one cache, and processes that end in the middle.

use reasonscape_cache::{Cache, Claim};

use super::child::{ChildRole, command, stdout_lines};
use super::{entry, ids, temp_cache_path};

#[test]
fn three_processes_claim_each_request_once() {
    let (dir, path) = temp_cache_path();
    let mut children: Vec<_> = (0..3).map(|_| command(ChildRole::ClaimAll, &path).spawn().unwrap()).collect();
    let readers: Vec<_> = children
        .iter_mut()
        .map(|child| {
            let stdout_lines = stdout_lines(child);
            std::thread::spawn(|| stdout_lines.map(|number| number.parse().unwrap()).collect::<Vec<u64>>())
        })
        .collect();
    let mut claimed: Vec<u64> = readers.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    claimed.sort_unstable();
    assert_eq!(claimed, (0..1_000).collect::<Vec<_>>());

    let cache = Cache::open(&path).unwrap();
    let reader = cache.reader().unwrap();
    assert_eq!(reader.count().unwrap(), 1_000);
    assert!(reader.verify(|_| ()).unwrap().is_sound());
    assert!(!dir.path().join("cache.sqlite.owners").exists());
}

#[tokio::test]
async fn claims_of_a_killed_process_are_granted_again() {
    let (_dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let writer = cache.writer().unwrap();
    let mut child = command(ChildRole::Hold, &path).spawn().unwrap();
    let granted = stdout_lines(&mut child).next().unwrap();
    assert_eq!(granted, format!("{:?}", [Claim::Granted; 5]));
    assert_eq!(writer.claim(ids(0..6)).await.unwrap()[..5], [Claim::Taken; 5]);

    child.kill().unwrap();
    child.wait().unwrap();
    // A new process finds them free at once; one that has just seen the owner alive looks again within a second.
    drop(writer);
    let writer = cache.writer().unwrap();
    assert_eq!(writer.claim(ids(0..6)).await.unwrap(), [Claim::Granted; 6]);
}

#[tokio::test]
async fn running_process_notices_killed_process() {
    let (_dir, path) = temp_cache_path();
    let writer = Cache::open(&path).unwrap().writer().unwrap();
    let mut child = command(ChildRole::Hold, &path).spawn().unwrap();
    stdout_lines(&mut child).next().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(writer.claim(ids(0..5)).await.unwrap(), [Claim::Granted; 5]);
}

#[test]
fn stored_entries_survive_a_kill_at_any_moment() {
    let (_dir, path) = temp_cache_path();
    for durable in [1, 20, 57, 130, 200] {
        let mut child = command(ChildRole::StoreForever, &path).spawn().unwrap();
        let last = stdout_lines(&mut child).nth(durable - 1).unwrap().parse::<u64>().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let cache = Cache::open(&path).unwrap();
        let reader = cache.reader().unwrap();
        for number in 0..=last {
            assert_eq!(reader.get(&entry(number).id).unwrap(), Some(entry(number).response));
        }
        assert!(reader.verify(|_| ()).unwrap().is_sound());
    }
}
