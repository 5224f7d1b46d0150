"""The page: its content as JSON values, and the scripts that draw it in a browser."""
