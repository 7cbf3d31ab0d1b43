"""Trains the built-in forecaster of leo-abr: rows of features and futures in, a model file out."""
