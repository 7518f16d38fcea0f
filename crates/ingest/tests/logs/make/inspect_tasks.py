"""Tasks for Inspect, each of which leaves something in its log that a reader has to get right."""

import inspect_ai.log._log
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.scorer import Score, accuracy, choice, match, mean, scorer, stderr
from inspect_ai.solver import Generate, TaskState, generate, multiple_choice, solver

# The frames of a traceback name folders of the machine that made the log, and nothing reads them.
inspect_ai.log._log.format_traceback = lambda *_: ("", "")

PAIRS = [(7 * i + 3, 5 * i * i % 89 + 10) for i in range(12)]


def sums(ids):
    return MemoryDataset(
        [
            Sample(id=ids(i), input=f"What is {a} + {b}? End with the number.", target=str(a + b))
            for i, (a, b) in enumerate(PAIRS)
        ],
        name="sums",
    )


@task
def add():
    """Whole-number ids, and replies of which some are cut off."""
    return Task(dataset=sums(lambda i: i + 1), solver=generate(), scorer=match("end", numeric=True),
                config=GenerateConfig(temperature=0.0, max_tokens=64))


@task
def pick():
    """Text ids and four choices."""
    samples = [
        Sample(id=f"sum/{i}", input=f"What is {a} + {b}?", choices=[str(a + b + k - i % 4) for k in range(4)],
               target="ABCD"[i % 4])
        for i, (a, b) in enumerate(PAIRS)
    ]
    return Task(dataset=MemoryDataset(samples, name="picks"), solver=multiple_choice(), scorer=choice())


@scorer(metrics=[accuracy(), stderr()])
def graded():
    """Right is C; every third wrong one gets half a point, every fifth sample no score at all."""

    async def score(state, target):
        number = int(str(state.sample_id).split("-")[1])
        if number % 5 == 0:
            return Score(value=float("nan"), answer=state.output.completion)
        if state.output.completion.rstrip().endswith(target.text):
            return Score(value="C", answer=target.text)
        return Score(value="P" if number % 3 == 0 else "I", answer=state.output.completion)

    return score


@scorer(metrics={"exact": [mean()], "near": [mean()]})
def several():
    """A score with two parts."""

    async def score(state, target):
        text = state.output.completion.rstrip()
        return Score(value={"exact": float(text.endswith(target.text)), "near": float(target.text[:1] in text)})

    return score


@task
def grade():
    """Half points, samples without a score, and a scorer of two parts beside."""
    return Task(dataset=sums(lambda i: f"item-{i}"), solver=generate(), scorer=[graded(), several()])


@solver
def stumble():
    async def solve(state: TaskState, generate: Generate):
        if state.sample_id in (3, 8):
            raise RuntimeError("the tool was not there")
        return await generate(state)

    return solve


@task
def fall():
    """Two samples end in an error."""
    return Task(dataset=sums(lambda i: i + 1), solver=stumble(), scorer=match("end", numeric=True),
                fail_on_error=False)


@solver
def recall():
    """Answers from elsewhere, of which nobody knows why they ended."""

    async def solve(state: TaskState, generate: Generate):
        state.output = ModelOutput.from_content("recalled", f"The answer is {len(state.input_text)}", stop_reason="unknown")
        return state

    return solve


@task
def borrowed():
    """Stop reasons are unknown."""
    return Task(dataset=sums(lambda i: i + 1), solver=recall(), scorer=match("end", numeric=True))


@task
def huge():
    """Metadata with numbers that fit nowhere."""
    samples = sums(lambda i: i + 1).samples[:4]
    for sample in samples:
        sample.metadata = {"big": 10**40 + sample.id, "limit": float("inf"), "gap": float("nan")}
    return Task(dataset=MemoryDataset(samples, name="huge"), solver=generate(), scorer=match("end", numeric=True))
