"""A screen for graphical programs, which nobody looks at."""

import os
import subprocess

# Width and height in pixels: what Cantata takes at its first start.
SIZE = (950, 684)


class Screen:
    """An X server without a display, and a window manager that gives each window all of it. Both are started when the
    first one asks for them."""

    def __init__(self):
        self.programs = []
        self.display = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in reversed(self.programs):
            program.terminate()
            program.wait(10)

    def start(self):
        """The name of the display."""
        if not self.programs:
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            # The server itself chooses a number that is free, and tells it.
            reading, writing = os.pipe()
            size = f"{SIZE[0]}x{SIZE[1]}x24"
            self.programs.append(subprocess.Popen(
                ["Xvfb", "-displayfd", str(writing), "-screen", "0", size, "-nolisten", "tcp", "-noreset"], pass_fds=[writing],
                **quiet))
            os.close(writing)
            with os.fdopen(reading) as numbers:
                self.display = ":" + numbers.readline().strip()
            self.programs.append(subprocess.Popen(
                ["matchbox-window-manager", "-use_titlebar", "no"], env={**os.environ, "DISPLAY": self.display}, **quiet))
        return self.display
