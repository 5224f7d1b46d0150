"""From files to arrays, one file for each format. Files come from elsewhere: nothing in them is run or trusted."""
