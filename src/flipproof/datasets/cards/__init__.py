"""The cards, which describe datasets before they are loaded, and their catalogue. To add a dataset, add a card here."""
