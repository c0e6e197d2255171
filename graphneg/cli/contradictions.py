"""Define the commands ``contradictions``, which collect and label contradictory responses.

A response is contradictory if it contradicts an earlier utterance of the same speaker. The method follows
Sato et al. 2024, "A Large Collection of Model-generated Contradictory Responses for Consistency-aware
Dialogue Systems" (Findings of ACL). The method has four steps, each of which is a command.

Example::

    graphneg contradictions contexts --model gpt2 -o contexts.jsonl              # find suitable questions
    graphneg contradictions responses contexts.jsonl --lm small=gpt2 -o responses.jsonl
    graphneg contradictions annotate responses.jsonl -o labels.csv     # give a copy to three annotators
    graphneg contradictions export responses.jsonl a.csv b.csv c.csv --key labels.key.json -o labelled.jsonl
"""

from __future__ import annotations

from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter

from graphneg.cli import options
from graphneg.cli.annotate import JUDGEMENTS, read_judged
from graphneg.cli.commands import argument, group, named_values, option, shared, training_command
from graphneg.cli.options import DialogueOptions, Offline, OutFile, Overwrite, Seed, StoreOptions
from graphneg.cli.terminal import counted, print_message, progress_bars, resume_file_message

if TYPE_CHECKING:
    from graphneg.generators.base import Generator

Responses = Annotated[
    Path, Argument(metavar="RESPONSES", help="The output file of `graphneg contradictions responses`.")
]
Judged = Annotated[
    list[Path],
    Argument(
        metavar="JUDGED...",
        help="Filled sheets, one per annotator, or a .sqlite file with judgements from graphneg serve.",
    ),
]
Key = Annotated[
    Path | None,
    shared("Key file of the sheets. Default: the key file in the folder of the first sheet.", "FILE"),
]


@training_command(
    "graphneg contradictions contexts --model gpt2 --top 500 -o contexts.jsonl",
    "graphneg contradictions contexts --file chats.jsonl --model path/to/model -o contexts.jsonl",
)
def contexts(
    *,
    model: str = option(..., "The causal language model that scores the contexts.", "PATH_OR_ID"),
    out: OutFile,
    file: Path | None = option(
        None, "File with your own dialogues (JSON lines, CSV, TSV), to be used instead of a store."
    ),
    top: int = option(1000, "Number of contexts to keep: the ones with the highest scores.", min=1),
    per_dialogue: int = option(1, "Maximum number of contexts per dialogue.", min=1),
    max_turns_back: int = option(
        3,
        "Number of turns that the question may refer to: the last turns of the person who is asked.",
        min=1,
    ),
    overwrite: Overwrite = False,
    device: options.AnyDevice = "auto",
    offline: Offline = False,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Find contexts that end with a question about something that the answerer said before.

    Contexts are ranked by FQness, which measures whether the question is about an earlier statement. A
    language model computes the probability of the question twice: once without the turns after the statement,
    and once without the statement. FQness is the first probability divided by the second. The contexts with
    the highest FQness are written, sorted from highest to lowest. If a run is interrupted, run the same
    command again to continue.
    """
    from graphneg.nn.models import load_causal
    from graphneg.scorers.collection import ContextChoice, collect_contexts, read_dialogues_file
    from graphneg.store.contents import texts_digest

    causal = load_causal(model, device=device, offline=offline)
    # `facts` contains everything that determines the result. If any of it has changed, an interrupted run is
    # not continued but starts again.
    facts: dict[str, object] = {"model": str(causal.path)}
    facts |= {"corpora": chosen.corpus, "splits": chosen.split, "limit": chosen.limit}
    choice = ContextChoice(top, per_dialogue, max_turns_back)
    with ExitStack() as opened:
        if file is not None:
            candidates = read_dialogues_file(file)
            # Include a hash of the file's content instead of the file name, so that a run starts again if the
            # content has changed.
            facts["file"] = sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
        else:
            graph = opened.enter_context(where.opened(chosen))
            candidates = chosen.contexts(graph)
            facts["store"] = [graph.store.description, texts_digest(graph.store, chosen.selection)]
        bars = opened.enter_context(progress_bars(f"{out} was not written; run the same command again"))
        best = collect_contexts(
            candidates, causal, out, choice, facts=facts, overwrite=overwrite, progress=bars
        )
    worst, highest = best[-1].log_fqness, best[0].log_fqness
    print_message(f"{out}: {counted(len(best), 'context')}, log FQness {worst:.2f} to {highest:.2f}")


@training_command(
    "graphneg contradictions responses contexts.jsonl --lm small=gpt2 --lm large=gpt2-xl -o responses.jsonl",
    "graphneg contradictions responses contexts.jsonl --from-file mine=answers.jsonl -o responses.jsonl",
)
def responses(
    *,
    file: Path = argument(..., "Output file of the command 'graphneg contradictions contexts'.", "CONTEXTS"),
    out: OutFile,
    generator: list[str] | None = option(
        None, "A generator that makes responses with data from the store. Repeatable.", "NAME"
    ),
    lm: list[str] | None = option(
        None,
        "A causal language model that generates responses. NAME is your name for it. Repeatable.",
        "NAME=PATH_OR_ID",
    ),
    from_file: list[str] | None = option(
        None,
        'A file of responses: JSON lines with the keys "id" (of a context) and "response". NAME is your '
        "name for the file. Repeatable.",
        "NAME=FILE",
    ),
    per_context: int = option(
        1, "Number of responses per context from each model, generator or file.", min=1
    ),
    option: list[str] | None = option(
        None, "An option for all generators, such as by=response. Repeatable.", "NAME=VALUE"
    ),
    seed: Seed = 0,
    overwrite: Overwrite = False,
    device: options.AnyDevice = "auto",
    offline: Offline = False,
    where: StoreOptions,
) -> None:
    """Generate responses to the contexts, with language models, generators or files of responses.

    If a run is interrupted, run the same command again to continue.
    \N{FORM FEED}

    Raises:
        BadParameter: No generator, model or file is given.
    """
    from graphneg.generators.base import get_generator
    from graphneg.nn.models import load_causal
    from graphneg.scorers.collection import (
        FileResponses,
        LanguageModelReplies,
        collect_responses,
        read_contexts_file,
    )

    if not (generator or lm or from_file):
        raise BadParameter("give at least one source of responses: --generator, --lm or --from-file")
    contexts = read_contexts_file(file)
    own: list[Generator] = [
        FileResponses(name, str(path)) for name, path in named_values(from_file, "--from-file").items()
    ]
    own += [
        LanguageModelReplies(name, load_causal(str(model), device=device, offline=offline))
        for name, model in named_values(lm, "--lm").items()
    ]
    settings = named_values(option, "--option")
    with ExitStack() as opened:
        # Only generators read the store, so open it only if there are any.
        if generator:
            store = opened.enter_context(where.opened()).store
            own = [*(get_generator(name, store, **settings) for name in generator), *own]
        bars = opened.enter_context(progress_bars(resume_file_message(out)))
        amount = collect_responses(
            contexts, own, out, per_context=per_context, seed=seed, overwrite=overwrite, progress=bars
        )
    print_message(f"{out}: {counted(amount, 'response')} to {counted(len(contexts), 'context')}")


@training_command(
    "graphneg contradictions annotate responses.jsonl -o labels.csv",
    "graphneg contradictions annotate responses.jsonl -o labels.sqlite",
    "graphneg serve --judgements labels.sqlite",
)
def annotate(file: Responses, out: OutFile, overwrite: Overwrite = False) -> None:
    """Prepare the responses for three annotators, as a CSV sheet with a key file or as a .sqlite file.

    Give each annotator a copy of the sheet. Annotators write 1 for a contradictory response and 0 for any
    other response. graphneg annotate --read prints how well the annotators agree. To annotate in a browser,
    write a .sqlite file and open it with graphneg serve --judgements.
    """
    from graphneg.evaluation.review.contradiction_labels import review_of
    from graphneg.evaluation.review.exchange import write_blank_sheet
    from graphneg.evaluation.review.judgements import Judgements
    from graphneg.records.runs import check_new
    from graphneg.scorers.collection import read_responses_file

    found = review_of(read_responses_file(file))
    if out.suffix == JUDGEMENTS:
        check_new(out, overwrite)
        out.unlink(missing_ok=True)
        Judgements.create(out, found).close()
        print_message(
            f"{out}: {counted(len(found.items), 'response')} to judge: graphneg serve --judgements {out}"
        )
    else:
        key = write_blank_sheet(found, out, overwrite=overwrite)
        print_message(
            f"{out}: {counted(len(found.items), 'response')} to label; {key} records their generators"
        )


@training_command(
    "graphneg contradictions export responses.jsonl a.csv b.csv c.csv --key labels.key.json -o out.jsonl",
    "graphneg contradictions export responses.jsonl labels.sqlite -o labelled.jsonl",
)
def export(
    file: Responses, judged: Judged, out: OutFile, key: Key = None, overwrite: Overwrite = False
) -> None:
    """Write the labelled responses as JSON lines, for training and evaluating detectors of contradictions.

    A response is labelled as contradictory if at least two of three annotators marked it as contradictory,
    and as consistent if no annotator did. If exactly one annotator marked it, the response is left out.
    """
    from graphneg.evaluation.review.contradiction_labels import labelled_responses
    from graphneg.scorers.collection import read_responses_file, write_responses

    found = labelled_responses(read_responses_file(file), *read_judged(judged, key))
    write_responses(found, out, overwrite=overwrite)
    contradictory = sum(one.label or 0 for one in found)
    print_message(
        f"{out}: {contradictory:,} contradictory, {len(found) - contradictory:,} consistent; "
        "the others were left out"
    )


app = group(
    "contradictions",
    "Collect contradictory responses: find contexts, generate responses, and label them.",
    (contexts, responses, annotate, export),
)
