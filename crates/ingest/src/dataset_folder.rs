//! Dataset folders as Hugging Face has them: shards of splits of subsets, and a card that may assign files to splits.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use reasonscape_core::closest;
use reasonscape_limits::read_to_end;

use crate::{IngestError, holds_rows};

/// Splits in the order of preference, with their words in file names.
const SPLITS: [(&str, &[&str]); 3] = [
    ("test", &["test", "testing", "eval", "evaluation"]),
    ("validation", &["validation", "valid", "val", "dev"]),
    ("train", &["train", "training"]),
];
/// Folders that are neither a subset nor a split.
const PLAIN_FOLDERS: [&str; 3] = ["data", "default", "datasets"];
/// Files that aren't data.
const OTHER_FILES: [&str; 5] =
    ["dataset_infos.json", "dataset_info.json", "state.json", "dataset_dict.json", "package.json"];
/// How deep files are searched for.
const MAX_DEPTH: usize = 4;
const MAX_CARD_BYTES: u64 = 1 << 20;

/// The files of one split of a dataset folder.
#[derive(Debug)]
pub struct DatasetFolder {
    /// In the order of their names.
    pub files: Vec<PathBuf>,
    path: PathBuf,
    subset: Option<String>,
    split: String,
    other_splits: Vec<String>,
}

/// A file with its subset and split.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DataFile {
    path: PathBuf,
    subset: Option<String>,
    split: String,
}

/// Whether a directory has files of rows, and isn't a study.
pub fn is_dataset_folder(path: &Path) -> bool {
    path.is_dir()
        && !path.join("study.toml").exists()
        && !path.join("cache.sqlite").exists()
        && data_files(path).is_ok_and(|files| !files.is_empty())
}

impl DatasetFolder {
    /// Finds the files of a split: the given one, or the first that exists of test, validation and train.
    ///
    /// # Errors
    /// An [`IngestError`] that lists the subsets or splits to choose from.
    pub fn open(path: &Path, subset: Option<&str>, split: Option<&str>) -> Result<Self, IngestError> {
        let found = data_files(path)?;
        let from_card = card_files(path, &found);
        let mut files = if from_card.is_empty() { by_name(path, &found) } else { from_card };
        if files.is_empty() {
            return Err(IngestError::file(
                path,
                "no files of rows found; expected Parquet, JSONL, JSON or CSV files, as in a dataset of Hugging Face",
            ));
        }
        let subsets = distinct(files.iter().filter_map(|file| file.subset.clone()));
        let subset = match subset {
            Some(wanted) if subsets.iter().any(|name| name == wanted) => Some(wanted.to_owned()),
            Some(wanted) => return Err(unknown(path, "subset", wanted, &subsets)),
            None if subsets.len() > 1 => {
                return Err(IngestError::file(
                    path,
                    format!(
                        "has several subsets: {}; choose one, as in `--subset {}`",
                        quoted(&subsets),
                        subsets[0]
                    ),
                ));
            }
            None => subsets.into_iter().next(),
        };
        files.retain(|file| subset.is_none() || file.subset == subset);
        let splits = distinct(files.iter().map(|file| file.split.clone()));
        let split = match split {
            Some(wanted) if splits.iter().any(|name| name == wanted) => wanted.to_owned(),
            Some(wanted) => return Err(unknown(path, "split", wanted, &splits)),
            None => preferred_split(path, &splits)?,
        };
        files.retain(|file| file.split == split);
        let mut paths: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
        paths.sort();
        paths.dedup();
        let other_splits = splits.into_iter().filter(|other| *other != split).collect();
        Ok(Self { files: paths, path: path.to_owned(), subset, split, other_splits })
    }

    /// Which part of the folder is read.
    pub fn description(&self) -> String {
        let subset = self.subset.as_ref().map(|name| format!(" of subset `{name}`")).unwrap_or_default();
        let files = match self.files.len() {
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        let others = match self.other_splits.as_slice() {
            [] => String::new(),
            others => format!("; choose {} with `--split`", quoted(others)),
        };
        format!("reading split `{}`{subset} of `{}` ({files}){others}", self.split, self.path.display())
    }
}

fn preferred_split(path: &Path, splits: &[String]) -> Result<String, IngestError> {
    if let [only] = splits {
        return Ok(only.clone());
    }
    let preferred = SPLITS.iter().find_map(|(name, _)| splits.iter().find(|split| split == name));
    preferred.cloned().ok_or_else(|| {
        IngestError::file(
            path,
            format!("has several splits: {}; choose one, as in `--split {}`", quoted(splits), splits[0]),
        )
    })
}

fn unknown(path: &Path, what: &str, wanted: &str, known: &[String]) -> IngestError {
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = closest(wanted, &names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let has = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", quoted(known)) };
    IngestError::file(path, format!("has no {what} `{wanted}`{hint} ({has})"))
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The files of rows in a folder.
fn data_files(path: &Path) -> Result<Vec<PathBuf>, IngestError> {
    let mut found = Vec::new();
    walk(path, 0, &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), IngestError> {
    for entry in fs::read_dir(folder).map_err(IngestError::io("list", folder))? {
        let entry = entry.map_err(IngestError::io("list", folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            if depth < MAX_DEPTH {
                walk(&path, depth + 1, found)?;
            }
        } else if holds_rows(&path) && !OTHER_FILES.contains(&name.as_str()) {
            found.push(path);
        }
    }
    Ok(())
}

/// Subsets and splits by the names of files and folders: `main/test-00000-of-00001.parquet`, `test.jsonl`, `test/0000.parquet`.
fn by_name(root: &Path, files: &[PathBuf]) -> Vec<DataFile> {
    let of_file = |path: &PathBuf| {
        let relative = path.strip_prefix(root).unwrap_or(path);
        let stem = relative.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folders: Vec<String> = relative
            .parent()
            .into_iter()
            .flat_map(Path::components)
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        let split = split_in(&stem).or_else(|| folders.iter().rev().find_map(|folder| split_in(folder)));
        let subset = folders
            .iter()
            .find(|folder| !PLAIN_FOLDERS.contains(&folder.as_str()) && split_in(folder).is_none())
            .cloned();
        DataFile { path: path.clone(), subset, split: split.unwrap_or("train").to_owned() }
    };
    files.iter().map(of_file).collect()
}

/// The split that a name has as one of its words.
fn split_in(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphabetic());
    words.find_map(|word| SPLITS.iter().find(|(_, words)| words.contains(&word)).map(|(split, _)| *split))
}

/// Subsets and splits as the card's `configs` list them.
fn card_files(root: &Path, files: &[PathBuf]) -> Vec<DataFile> {
    let Some(header) = card_header(root) else { return Vec::new() };
    let mut found = Vec::new();
    for (subset, split, pattern) in configs(&header) {
        for path in files {
            let relative = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
            if matches_glob(&pattern, &relative) {
                let split = split.clone().or_else(|| split_in(&relative).map(str::to_owned));
                found.push(DataFile {
                    path: path.clone(),
                    subset: Some(subset.clone()).filter(|name| name != "default"),
                    split: split.unwrap_or_else(|| "train".to_owned()),
                });
            }
        }
    }
    found
}

/// The YAML between the first two lines of three dashes.
fn card_header(root: &Path) -> Option<String> {
    // Whatever it is, no more than this is read of it; a device or a pipe isn't opened at all.
    let card = root.join("README.md");
    if !card.is_file() {
        return None;
    }
    let bytes = read_to_end(fs::File::open(card).ok()?, MAX_CARD_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    rest.split_once("\n---").map(|(header, _)| header.to_owned())
}

/// The entries of `configs`: subset, split and file pattern. Only the block style that the Hub itself writes is read.
fn configs(header: &str) -> Vec<(String, Option<String>, String)> {
    let mut entries = Vec::new();
    let mut is_inside = false;
    let mut subset = "default".to_owned();
    let mut split: Option<String> = None;
    let mut list = "";
    for line in header.lines() {
        let is_top = !line.starts_with([' ', '-', '#']) && !line.trim().is_empty();
        if is_top {
            is_inside = line.trim_end() == "configs:";
            continue;
        }
        if !is_inside {
            continue;
        }
        let text = line.trim();
        let (is_item, text) = text.strip_prefix("- ").map_or((false, text), |rest| (true, rest.trim()));
        let value = |key: &str| {
            let value = text.strip_prefix(key)?.strip_prefix(':')?.trim();
            Some(value.trim_matches(['"', '\'']).to_owned())
        };
        if let Some(name) = value("config_name") {
            (subset, split, list) = (name, None, "");
        } else if let Some(name) = value("split") {
            (split, list) = (Some(name), "");
        } else if let Some(pattern) = value("path").or_else(|| value("data_files")) {
            if pattern.is_empty() {
                list = if text.starts_with("path") { "path" } else { "data_files" };
            } else {
                entries.push((subset.clone(), split.clone(), pattern));
            }
        } else if is_item && !list.is_empty() && !text.contains(": ") {
            entries.push((subset.clone(), split.clone(), text.trim_matches(['"', '\'']).to_owned()));
        }
    }
    entries
}

/// Whether a path matches a pattern with `*` (within a folder), `**` (any folders) and `?`.
fn matches_glob(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) =
        (pattern.trim_start_matches("./").split('/').collect(), path.split('/').collect());
    // Whether the first `i` parts of the pattern match the first `j` of the path.
    let mut matched = BTreeMap::from([((0, 0), true)]);
    for i in 0..=pattern.len() {
        for j in 0..=path.len() {
            let before = |i: usize, j: usize| matched.get(&(i, j)).copied().unwrap_or(false);
            let found = match (i, j) {
                (0, _) => j == 0,
                (_, _) if pattern[i - 1] == "**" => before(i - 1, j) || j > 0 && before(i, j - 1),
                (_, 0) => false,
                _ => before(i - 1, j - 1) && matches_part(pattern[i - 1].as_bytes(), path[j - 1].as_bytes()),
            };
            matched.insert((i, j), found);
        }
    }
    matched[&(pattern.len(), path.len())]
}

fn matches_part(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut star, mut pattern_at) = (0, None, 0);
    while at < text.len() {
        match pattern.get(pattern_at) {
            Some(b'*') => {
                star = Some((pattern_at, at));
                pattern_at += 1;
            }
            Some(byte) if *byte == text[at] || *byte == b'?' => {
                at += 1;
                pattern_at += 1;
            }
            _ => match star {
                Some((star_at, from)) => {
                    star = Some((star_at, from + 1));
                    (pattern_at, at) = (star_at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[pattern_at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = "---\nlicense: mit\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: main/train-*\n  \
        - split: test\n    path:\n    - \"main/test-*\"\n- config_name: other\n  data_files: other/*.jsonl\ntags:\n- math\n---\n# Card\n";

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::TempDir::new().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if *file == "README.md" { CARD } else { "" }).unwrap();
        }
        folder
    }

    fn open(files: &[&str], subset: Option<&str>, split: Option<&str>) -> Result<Vec<String>, String> {
        let folder = folder(files);
        let opened = DatasetFolder::open(folder.path(), subset, split).map_err(|error| error.to_string())?;
        let relative =
            |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned();
        Ok(opened.files.iter().map(relative).collect())
    }

    #[test]
    fn finds_splits_by_file_and_folder_names() {
        let shards = [
            "data/test-00001-of-00002.parquet",
            "data/test-00000-of-00002.parquet",
            "data/train-00000-of-00001.parquet",
        ];
        assert_eq!(open(&shards, None, None).unwrap(), [shards[1], shards[0]]);
        assert_eq!(open(&shards, None, Some("train")).unwrap(), [shards[2]]);
        assert_eq!(
            open(&["train.jsonl", "dev.jsonl", "dataset_infos.json"], None, None).unwrap(),
            ["dev.jsonl"]
        );
        assert_eq!(open(&["default/test/0000.parquet"], None, None).unwrap(), ["default/test/0000.parquet"]);
        assert_eq!(open(&["mine.csv"], None, None).unwrap(), ["mine.csv"]);
        // "latest" contains "test", but not as a word.
        assert_eq!(open(&["latest.jsonl", "validation.jsonl"], None, None).unwrap(), ["validation.jsonl"]);
        let error = open(&shards, None, Some("tset")).unwrap_err();
        assert!(error.contains("has no split `tset`; did you mean `test`?"), "{error}");
        assert!(open(&["notes.md"], None, None).unwrap_err().contains("no files of rows found"));
    }

    #[test]
    fn requires_a_choice_of_several_subsets() {
        let files = ["main/test-0.parquet", "socratic/test-0.parquet"];
        let error = open(&files, None, None).unwrap_err();
        assert!(
            error.contains("several subsets: `main`, `socratic`") && error.contains("`--subset main`"),
            "{error}"
        );
        assert_eq!(open(&files, Some("socratic"), None).unwrap(), ["socratic/test-0.parquet"]);
    }

    #[test]
    fn card_says_which_files_belong_to_a_split() {
        let files =
            ["README.md", "main/test-0.parquet", "main/train-0.parquet", "other/a.jsonl", "extra/test.jsonl"];
        assert_eq!(open(&files, Some("main"), None).unwrap(), ["main/test-0.parquet"]);
        assert_eq!(open(&files, Some("other"), None).unwrap(), ["other/a.jsonl"]);
        assert!(open(&files, Some("extra"), None).unwrap_err().contains("it has `main`, `other`"));
    }

    #[cfg(unix)]
    #[test]
    fn card_without_end_is_not_read() {
        let folder = folder(&["test.jsonl"]);
        let card = folder.path().join("README.md");
        std::os::unix::fs::symlink("/dev/zero", &card).unwrap();
        let files =
            |folder: &tempfile::TempDir| DatasetFolder::open(folder.path(), None, None).unwrap().files;
        assert_eq!(files(&folder), [folder.path().join("test.jsonl")]);
        fs::remove_file(&card).unwrap();
        fs::write(&card, CARD.replace("# Card", &"x".repeat(MAX_CARD_BYTES as usize))).unwrap();
        assert_eq!(card_header(folder.path()), None);
    }

    #[test]
    fn globs_match_as_on_the_hub() {
        for (pattern, path, expected) in [
            ("main/test-*", "main/test-00000-of-00001.parquet", true),
            ("main/test-*", "main/x/test-0", false),
            ("**/*.jsonl", "a/b/c.jsonl", true),
            ("**/*.jsonl", "c.jsonl", true),
            ("data/**", "data/a/b", true),
            ("*.json?", "a.jsonl", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
        ] {
            assert_eq!(matches_glob(pattern, path), expected, "{pattern} {path}");
        }
    }
}
