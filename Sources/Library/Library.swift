// The public face of Library.
