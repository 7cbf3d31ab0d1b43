"""Trains the built-in forecaster of leo-abr: from rows of features and future capacity to a model file."""
