"""An executor that gives each job an empty folder, as a node without a disk has."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from typing import Any

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=True,
    job_deploy_sources=True,
    pass_default_storage_provider_args=True,
    pass_default_resources_args=True,
    pass_envvar_declarations_to_cmd=True,
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=0,
)


class Executor(RemoteExecutor):
    """Runs the command of each job with the shell, and an environment of its own."""

    def run_job(self, job: Any) -> None:
        node = tempfile.mkdtemp(prefix=f"node-{job.jobid}-")
        known = {k: v for k, v in os.environ.items() if not k.startswith("CDSPP_")}
        known["PATH"] = f"{os.path.dirname(sys.executable)}{os.pathsep}{known['PATH']}"
        command = self.format_job_exec(job)
        process = subprocess.Popen(command, shell=True, cwd=node, env=known)
        self.report_job_submission(
            SubmittedJobInfo(job, str(process.pid), aux={"process": process})
        )

    async def check_active_jobs(
        self, active_jobs: list[SubmittedJobInfo]
    ) -> AsyncGenerator[SubmittedJobInfo, None]:
        for info in active_jobs:
            code = info.aux["process"].poll()
            if code is None:
                yield info
            elif code == 0:
                self.report_job_success(info)
            else:
                self.report_job_error(info)

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        for info in active_jobs:
            info.aux["process"].kill()
