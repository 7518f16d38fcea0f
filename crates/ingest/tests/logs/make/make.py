"""Makes the logs beside this folder anew: lm-eval and Inspect really run, against a model server on the loopback.

    python -m venv env && env/bin/pip install -r requirements.txt
    env/bin/python make.py [--old-inspect PYTHON]

`--old-inspect` names the Python of an environment with `inspect-ai==0.3.180` and `openai==2.17.0`, the kind that still deflated its logs;
without it that one log is left as it is. No request leaves the machine, and nothing is changed by hand afterwards.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import server

HERE = pathlib.Path(__file__).resolve().parent
LOGS = HERE.parent
OFFLINE = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1", "INSPECT_DISPLAY": "none",
           "INSPECT_LOG_SHARED": "false", "PYTHONHASHSEED": "0"}


def lm_eval(work, address, model, tasks, *more, out):
    """Runs lm-eval, whose files then stand under `lm-eval/<out>`."""
    kind, arguments = model
    arguments = arguments.replace("ADDRESS", address)
    command = [sys.executable, "-m", "lm_eval", "--model", kind, "--model_args", arguments, "--tasks", tasks,
               "--include_path", ".", "--output_path", str(out), *more]
    subprocess.run(command, cwd=work / "lm_eval", check=True, stdout=subprocess.DEVNULL)


def inspect(python, work, address, task, model, out, *more, wait=True):
    """Runs Inspect; its log becomes `inspect/<out>`."""
    logs = work / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    command = [str(pathlib.Path(python).parent / "inspect"), "eval", f"inspect_tasks.py@{task}", "--model",
               f"openai-api/mock/{model}", "--log-dir", "logs", "--max-connections", "1", *more]
    process = subprocess.Popen(command, cwd=work, stdout=subprocess.DEVNULL, env=os.environ | {
        "MOCK_API_KEY": "none", "MOCK_BASE_URL": address}, start_new_session=True)
    if wait:
        process.wait()
    else:
        # It waits for a reply that never comes. What it has written by then is what a power cut leaves.
        time.sleep(20)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    [log] = logs.glob("*.eval") if "json" not in more else logs.glob("*.json")
    place = LOGS / "inspect" / out
    place.parent.mkdir(exist_ok=True)
    shutil.copy(log, place)
    print(place.name, place.stat().st_size)


def chunked(log, place):
    """The layout for very large samples, which Inspect has so far only as a conversion."""
    from inspect_ai.log._recorders.chunked import convert_eval_logs_to_chunked

    with tempfile.TemporaryDirectory() as folder:
        convert_eval_logs_to_chunked(str(log), folder)
        [made] = pathlib.Path(folder).glob("*.eval")
        shutil.copy(made, place)
    print(place.name, place.stat().st_size)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--old-inspect")
    parser.add_argument("--only", choices=["lm-eval", "inspect", "mixed"])
    options = parser.parse_args()
    os.environ.update(OFFLINE)
    address = server.start()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        shutil.copytree(HERE, work, dirs_exist_ok=True)
        if options.only in (None, "lm-eval"):
            make_lm_eval(work, address)
        if options.only in (None, "inspect"):
            make_inspect(work, address, options.old_inspect)
        if options.only in (None, "mixed"):
            make_mixed(work, address)


def make_lm_eval(work, address):
    out = pathlib.Path("..") / "lm-eval"
    for name in ["small", "large"]:
        chat = ("local-chat-completions", f"model={name},base_url=ADDRESS/chat/completions,tokenizer_backend=None")
        lm_eval(work, address, chat, "small_sums,small_gaps", "--apply_chat_template", "--log_samples",
                out=out / "chat")
    text = ("local-completions", "model=small,base_url=ADDRESS/completions,tokenizer_backend=None")
    lm_eval(work, address, text, "small_votes", "--log_samples", out=out / "votes")
    lm_eval(work, address, ("dummy", "pretrained=dummy/one"), "small_picks", "--log_samples", "--num_fewshot", "2",
            out=out / "picks")
    lm_eval(work, address, text, "small_sums", "--limit", "4", out=out / "no-samples")
    shutil.rmtree(LOGS / "lm-eval", ignore_errors=True)
    shutil.copytree(work / "lm-eval", LOGS / "lm-eval")


def make_inspect(work, address, old):
    new = sys.executable
    for model in ["small", "large"]:
        inspect(new, work, address, "add", model, f"add-{model}.eval", "--epochs", "3", "--limit", "6")
    inspect(new, work, address, "pick", "small", "pick.eval")
    inspect(new, work, address, "grade", "small", "grade.eval")
    inspect(new, work, address, "fall", "small", "fall.eval", "--limit", "8")
    inspect(new, work, address, "huge", "small", "huge.eval")
    inspect(new, work, address, "add", "large", "add.json", "--log-format", "json", "--limit", "3")
    inspect(new, work, address, "add", "small-slow", "killed.eval", "--epochs", "3", "--log-buffer", "1", wait=False)
    chunked(LOGS / "inspect" / "huge.eval", LOGS / "inspect" / "chunked.eval")
    if old:
        inspect(old, work, address, "pick", "large", "deflated.eval", "--epochs", "2", "--limit", "6")


def make_mixed(work, address):
    """Folders as they grow: runs of several sizes, logs that can't be imported, and files that are no logs."""
    new, place = sys.executable, LOGS / "inspect-mixed"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    inspect(new, work, address, "add", "small", "../inspect-mixed/full.eval", "--epochs-reducer", "mode")
    inspect(new, work, address, "add", "small", "../inspect-mixed/short.eval", "--limit", "2")
    inspect(new, work, address, "pick", "small", "../inspect-mixed/unscored.eval", "--no-score", "--limit", "2")
    inspect(new, work, address, "borrowed", "large", "../inspect-mixed/borrowed.json", "--log-format", "json", "--limit", "4")
    inspect(new, work, address, "add", "large", "../inspect-mixed/sorted.json", "--log-format", "json", "--limit", "4")
    # Rewritten by the scripts that people keep beside their logs.
    log = json.loads((place / "sorted.json").read_text())
    log.pop("version")
    (place / "sorted.json").write_text(json.dumps(log, sort_keys=True))
    subprocess.run([str(pathlib.Path(new).parent / "inspect"), "view", "bundle", "--log-dir", str(place),
                    "--output-dir", "bundle"], cwd=work, check=True, stdout=subprocess.DEVNULL)
    [index] = (work / "bundle").rglob("listing.json")
    shutil.copy(index, place / "listing.json")
    whole = (place / "full.eval").read_bytes()
    (place / "cut.eval").write_bytes(whole[: len(whole) // 2])
    (place / "pointer.eval").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(whole).hexdigest()}\nsize {len(whole)}\n")

    out = pathlib.Path("..") / "lm-eval-mixed"
    text = ("local-completions", "model=small,base_url=ADDRESS/completions,tokenizer_backend=None")
    lm_eval(work, address, text, "small_sums", "--log_samples", "--limit", "8", out=out)
    lm_eval(work, address, text, "small_sums", "--log_samples", "--limit", "2", out=out)
    lm_eval(work, address, ("dummy", "pretrained=dummy/one"), "small_perplexity", "--log_samples", "--limit", "2", out=out)
    shutil.rmtree(LOGS / "lm-eval-mixed", ignore_errors=True)
    shutil.copytree(work / "lm-eval-mixed", LOGS / "lm-eval-mixed")
    [*_, last] = sorted((LOGS / "lm-eval-mixed").rglob("samples_small_sums_*.jsonl"))
    broken = last.with_name("samples_small_broken_2026-01-01T00-00-00.000000.jsonl")
    broken.write_text(last.read_text()[:-200])


if __name__ == "__main__":
    main()
