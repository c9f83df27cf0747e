// The public face of QueueEngine.
