"""Completion of the IDs of reassignments in batches."""

from __future__ import annotations

from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.language.kind import CandidateSource, Kind
from kafka_shell.view.candidates import Candidates, Catalog, pick


def _offer(found: CompletionRequest, known: Catalog) -> Candidates:
    """The reassignments of this cluster that have not ended, and how far they are."""
    from kafka_shell.commands.partitions.batch_store import unfinished

    cluster = known.view.cluster_id
    ids = {
        id: f"at batch {started.batches:,}"
        for id, started in unfinished(known.reassignments)
        if not cluster or started.cluster == cluster
    }
    return pick(ids, found.prefix)


REASSIGNMENT = Kind("reassignment", CandidateSource(_offer))
