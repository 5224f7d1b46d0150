"""What inputs look like: `pictures` has the seam and draws images and tables; words and graphs have a file each."""

from flipproof.report.pictures import graph_pictures as graph_pictures
from flipproof.report.pictures import word_pictures as word_pictures
