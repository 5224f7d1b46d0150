"""Figures for papers: each function turns values into one matplotlib figure."""
