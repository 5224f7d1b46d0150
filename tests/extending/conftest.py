"""The toys are imported by the tests beside them; collected for doctests, they would register a second time."""

collect_ignore_glob = ["toy_*.py"]
