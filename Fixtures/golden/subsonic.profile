# For mpd_diff.py --profile: what no Subsonic answer holds, so that no client can show it as the MPD did whose answers these are.

# no field in OpenSubsonic, or Navidrome does not fill it
ignore MUSICBRAINZ_RELEASETRACKID MUSICBRAINZ_RELEASEGROUPID Ensemble Location ShowMovement

# known for the artist only, hence the same for all of the artist's songs
ignore MUSICBRAINZ_ARTISTID MUSICBRAINZ_ALBUMARTISTID

# whole seconds in Subsonic, so sums are about half a second a song too small
approx playtime 3+30%
approx db_playtime 3+15%

# MPD leaves it out of sorted replies; see Docs/deviations.md
ignore Format
