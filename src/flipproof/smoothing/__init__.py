"""From votes to certificates: the verbs `vote` and `certify` and the values that they make.

`voting` draws and counts, `workers` has the processes and the cluster, `fingerprint` says what a model and a dataset
are. Other rooms use the verbs, `Votes`, `Certificates`, `Run` and fingerprints. It imports `noise` and all below.
"""
