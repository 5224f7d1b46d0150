"""What is known of datasets before they are loaded, and the catalogue of all of them. A new dataset is a card here."""
