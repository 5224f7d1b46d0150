"""From votes to certificates: the verbs `vote` and `certify` and the values that they make.

`voting` draws and counts, `workers` has the processes and the cluster, `fingerprint` says what a model and a dataset
are. It imports `noise` and all below.
"""

PUBLIC = (
    "certificates", "certify", "classifier", "fingerprint.fingerprints", "fingerprint.identity", "names",
    "result_files", "run", "vote", "votes", "voting.chunks", "voting.drawn_samples", "voting.evaluation",
    "voting.vote_counts", "voting.vote_task", "workers.ray_connection",
)  # fmt: skip
"""The modules that other rooms may import."""
