"""What parts with neural networks share: finding and loading models, batches, sampling, training runs."""
