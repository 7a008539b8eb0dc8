"""A logger for Snakemake that prints a run of a study in brief.

With a file for the events, as for ``cdspp run``, it writes these as lines of JSON
instead, and Snakemake prints its usual output.
"""

import json
from dataclasses import dataclass, field
from io import BufferedWriter, FileIO, TextIOWrapper
from logging import LogRecord, makeLogRecord
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

if TYPE_CHECKING:
    from cdspp.cli.run_display import RunDisplay

OF_PYTHON = frozenset(vars(makeLogRecord({})))  # fields of every record


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """The options of ``snakemake --logger cdspp``."""

    events: str = field(
        default="",
        metadata={
            "help": "File or pipe for the events, as JSON. Without it, the run is "
            "printed in brief; -p, --verbose, --debug-dag and --quiet all print "
            "Snakemake's usual output.",
            "env_var": True,
        },
    )


class LogHandler(LogHandlerBase):
    """Prints a run, or writes level, message and Snakemake's fields of each record."""

    settings: LogHandlerSettings
    writes_to_stream = writes_to_file = needs_rulegraph = False
    has_filter = has_formatter = True  # events do not depend on --quiet
    _file: TextIOWrapper | None = None
    _display: "RunDisplay | None" = None

    def __post_init__(self) -> None:
        """Open the file, or take the place of Snakemake's usual output."""
        self._ended = Event()
        if self.settings.events:
            file = BufferedWriter(FileIO(self.settings.events, "a"))
            self._file = TextIOWrapper(file, encoding="utf-8")
        elif not self._wants_usual():
            from cdspp.cli.run_display import RunDisplay

            self.writes_to_stream = True
            self._display = RunDisplay()
            self._ticker = Thread(target=self._update, daemon=True)
            self._ticker.start()

    def _wants_usual(self) -> bool:
        """Return whether an option asks for Snakemake's usual output."""
        asked = self.common_settings
        is_silent = "all" in map(str, asked.quiet or ())
        return is_silent or asked.verbose or asked.debug_dag or asked.printshellcmds

    def _fields(self, record: LogRecord) -> dict[str, Any]:
        fields = {k: v for k, v in vars(record).items() if k not in OF_PYTHON}
        fields |= {"level": record.levelname, "message": record.getMessage()}
        return fields | {"dryrun": self.common_settings.dryrun}

    def emit(self, record: LogRecord) -> None:
        """Print a record, or write it as JSON; values without a form become text."""
        try:
            if self._display:
                self._display.read(self._fields(record))
            elif self._file:
                line = json.dumps(self._fields(record), default=str, skipkeys=True)
                self._file.write(f"{line}\n")
                self._file.flush()
        except OSError:
            pass  # the workflow continues if the reader is gone
        except Exception:  # likewise after a defect, which is printed
            self.handleError(record)

    def _update(self) -> None:
        from cdspp.cli.run_display import PAUSE

        while self._display and not self._ended.wait(PAUSE):
            self.acquire()
            try:
                self._display.show()
            finally:
                self.release()

    def close(self) -> None:
        """Print the result of the run, once, or close the file."""
        if not self._ended.is_set():
            self._ended.set()
            if self._display:
                self._ticker.join()
                self._display.end()
            if self._file:
                self._file.close()
        super().close()
