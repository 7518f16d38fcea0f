"""Another engine reads the files: DuckDB counts the trials and compares with the counters beside them.

    pip install duckdb
    python check.py [STUDY ...]

Without a study it reads the sample of the format that is kept in this repository. A study is a folder with `trials`
and `points`, as `reasonscape evaluate` leaves it. `check.out` is what it says of the sample and of the million trials
that the ignored test `writes_a_large_study` writes:

    REASONSCAPE_STUDY=/tmp/study cargo test -p reasonscape-points -- --ignored writes_a_large_study
    python check.py ../samples/format-1 /tmp/study > check.out
"""

import pathlib
import sys

import duckdb

SAMPLE = pathlib.Path(__file__).resolve().parent.parent / "samples" / "format-1"

# Every counter that a point has, made from its trials. A trial that is stored twice counts once.
COUNTED = """
    SELECT eval_id, model, template, sampler, base_task, params, count(*) AS n,
        count(*) FILTER (WHERE status = 1) AS n_e,
        count(*) FILTER (WHERE status <> 2) AS n_u,
        count(*) FILTER (WHERE status = 2) AS n_t,
        coalesce(sum(guess) FILTER (WHERE status <> 2), 0) AS g,
        coalesce(sum(prompt_tokens), 0)::BIGINT AS prompt_tokens_sum, count(prompt_tokens) AS prompt_tokens_n,
        coalesce(sum(completion_tokens), 0)::BIGINT AS completion_tokens_sum,
        count(completion_tokens) AS completion_tokens_n,
        coalesce(sum(reasoning_tokens), 0)::BIGINT AS reasoning_tokens_sum,
        count(reasoning_tokens) AS reasoning_tokens_n,
        sum(latency_ms)::BIGINT AS latency_ms_sum, sum(compressed_size)::BIGINT AS compressed_size_sum
    FROM (SELECT DISTINCT ON (model, template, sampler, base_task, params, "index", repeat) * FROM trials)
    GROUP BY ALL
"""
COUNTERS = """n n_e n_u n_t g prompt_tokens_sum prompt_tokens_n completion_tokens_sum completion_tokens_n
    reasoning_tokens_sum reasoning_tokens_n latency_ms_sum compressed_size_sum""".split()


def check(study):
    """Prints what a study holds, and says whether trials and counters agree."""
    db = duckdb.connect()
    for kind in ("trials", "points"):
        # The folders repeat what the columns say (`eval=…/task=…`), and are not read.
        files = f"{study}/{kind}/**/*.parquet"
        db.execute(f"CREATE VIEW {kind} AS SELECT * FROM read_parquet('{files}', hive_partitioning = false)")
    db.execute(f"CREATE VIEW counted AS {COUNTED}")
    different = " OR ".join(
        "abs(p.g - coalesce(c.g, 0)) > 1e-9" if name == "g" else f"p.{name} <> coalesce(c.{name}, 0)"
        for name in COUNTERS
    )
    join = "USING (eval_id, model, template, sampler, base_task, params)"
    wrong = db.execute(f"SELECT count(*) FROM points p LEFT JOIN counted c {join} WHERE {different}").fetchone()[0]
    lost = db.execute(f"SELECT count(*) FROM counted ANTI JOIN points {join}").fetchone()[0]
    trials, points = (db.execute(f"SELECT count(*) FROM {kind}").fetchone()[0] for kind in ("trials", "points"))
    print(f"{trials} trials, {points} points")
    summary = db.execute(
        """SELECT model, template, base_task, count(*)::BIGINT, sum(planned)::BIGINT, sum(n)::BIGINT, sum(n_e)::BIGINT,
            sum(n_t)::BIGINT, round(sum(g), 6) FROM points GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    print("model | template | base_task | points | planned | n | n_e | n_t | g")
    for row in summary:
        print(" | ".join(str(value) for value in row))
    print(f"points whose counters are not those of their trials: {wrong}")
    print(f"points that have trials and no counters: {lost}")
    return wrong == 0 and lost == 0 and points > 0


def main():
    studies = [pathlib.Path(argument) for argument in sys.argv[1:]] or [SAMPLE]
    print(f"DuckDB {duckdb.__version__}")
    sound = [check(study) for study in studies]
    print("agree" if all(sound) else "DO NOT AGREE")
    sys.exit(0 if all(sound) else 1)


if __name__ == "__main__":
    main()
