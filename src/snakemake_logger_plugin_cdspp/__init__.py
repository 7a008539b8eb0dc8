"""A logger for Snakemake that writes events as lines of JSON, for ``cdspp run``."""

import json
from dataclasses import dataclass, field
from logging import FileHandler, LogRecord, makeLogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

OF_PYTHON = frozenset(vars(makeLogRecord({})))  # fields of every record


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """The options of ``snakemake --logger cdspp``."""

    events: str = field(
        default="/dev/stderr",
        metadata={"help": "File or pipe for the events.", "env_var": True},
    )


class LogHandler(LogHandlerBase, FileHandler):
    """Writes level, message and Snakemake's own fields of each record."""

    settings: LogHandlerSettings
    writes_to_stream = writes_to_file = needs_rulegraph = False
    has_filter = has_formatter = True  # events do not depend on --quiet
    emit = FileHandler.emit

    def __post_init__(self) -> None:
        """Open the file."""
        FileHandler.__init__(self, self.settings.events, encoding="utf-8")

    def format(self, record: LogRecord) -> str:
        """Return a record as JSON; values without a JSON form become text."""
        fields = {k: v for k, v in vars(record).items() if k not in OF_PYTHON}
        fields |= {"level": record.levelname, "message": record.getMessage()}
        fields["dryrun"] = self.common_settings.dryrun
        return json.dumps(fields, default=str, skipkeys=True)

    def handleError(self, record: LogRecord) -> None:
        """Let the workflow continue if the reader is gone."""
