"""The other certificates that the paper names, each behind the same verbs and with the same shape of result."""
