// The public face of Playback.
