"""The specification of each file of a study: what it is made of.

Rules, records, `cdspp.study.stale` and its reasons all read it here. The keys of the
options are the arguments of the function that writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from cdspp.core.code_digests import code_digest
from cdspp.core.discovery import defaults_of
from cdspp.core.files import content_digest
from cdspp.core.names import MAIN, FitKey
from cdspp.core.records import DEFAULTS, TRIALS, Specification
from cdspp.datasets import dataset_recipe
from cdspp.datasets.base import digests_path, file_digests
from cdspp.features import extractor_class, own_digests, pretrained_network
from cdspp.features.base import WordExtractor
from cdspp.methods import identity, method_class
from cdspp.stages.formats import ExpectedFits
from cdspp.study.files import (
    FETCHED,
    INDEX,
    SPLIT,
    codebook_file,
    feature_file,
    files_of_fit,
    input_patterns,
    label_file,
)
from cdspp.study.model import Study


class Specifications:
    """The specifications of the files of a study, each found once.

    `of` takes a path as the rules name it, without the fits, which have `of_fit` and
    `expected_fits`. `datasets` and `views` are by their names in paths.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self.datasets = {path: name for name, path in study.data_names.items()}
        self.views = {path: name for name, path in study.view_names.items()}
        self.of = cache(self._of)
        self.expected_fits = cache(self._expected_fits)

    def _of(self, file: str) -> Specification:
        match Path(file).parts:
            case "data", name, _:
                return self._index(self.datasets[name])
            case _, "labels", data, _:
                return self._labels(data)
            case _, "codebooks", data, name:
                view = self.views[name.partition(".")[0]]
                return self._codebook(self.datasets[data], view)
            case _, "features", data, name:
                domain, view, _ = name.split(".")
                return self._features(self.datasets[data], domain, self.views[view])
            case _, _, "splits", benchmark, _, "pairs", _:
                return self._pairs(benchmark)
            case _, _, "splits", benchmark, setting, role, domain, _:
                return self._split(benchmark, setting, role, domain)
            case _, _, "test-shares", benchmark, setting, domain, block:
                block = block.partition(".")[0]
                return self._test_shares(benchmark, setting, domain, block)
            case _, _, "subspace", benchmark, task:
                return self._subspace(benchmark, task.partition(".")[0])
            case _, _, "scores", name:
                return self._scores(name.partition(".")[0])
        raise ValueError(f"{file}: no rule has a specification of it")

    def _index(self, name: str) -> Specification:
        data, memory = self._study.datasets[name], digests_path("data", name)
        content = dataset_recipe(name, data.own, data.entry, memory)
        code = code_digest("cdspp.stages.data", content["module"])
        own_files, own = {}, data.own or {}
        if "folder" in own:
            own_files = {str(own["folder"]): content.pop("fingerprint")}
        elif "tables" in own:  # whose fingerprint has these digests and `own`
            del content["fingerprint"]
            own_files = file_digests([*map(Path, own["tables"].values())], memory)
        return Specification({}, {"name": name, **content}, own_files, code)

    def _labels(self, data: str) -> Specification:
        inputs = {"index": INDEX.format(data=data)}
        return Specification(inputs, code=code_digest("cdspp.stages.data"))

    def _codebook(self, dataset: str, name: str) -> Specification:
        domain = self._study.views[name].options["codebook_domain"]
        options, code = self._view(name, domain)
        return Specification(self._files(dataset, name), options, code=code)

    def _features(self, dataset: str, domain: str, name: str) -> Specification:
        view, data = self._study.views[name], self._study.datasets[dataset]
        options, code = self._view(name, domain)
        options |= {"scale": view.scale, "spec": data.spec(view, domain)}
        own_files = own_digests(view.extractor, options["options"])
        if view.view is not None:
            of_view = feature_file(self._study, dataset, domain, view.view)
            return Specification({"view": of_view}, options, own_files, code)
        inputs = self._files(dataset, name, domain)
        if issubclass(extractor_class(view.extractor), WordExtractor):
            inputs["codebook"] = codebook_file(self._study, dataset, name)
        return Specification(inputs, options, own_files, code)

    def _view(self, name: str, domain: str) -> tuple[dict[str, Any], str]:
        view = self._study.views[name]
        options = {
            "extractor": view.extractor,
            "options": view.domain_options(domain),
            DEFAULTS: _defaults(extractor_class(view.extractor)),
            "numeric_threads": self._study.numeric_threads,
        }
        module = extractor_class(view.extractor).__module__
        return options, code_digest("cdspp.stages.features", module)

    def _files(
        self, dataset: str, name: str, domain: str | None = None
    ) -> dict[str, str]:
        view, data = self._study.views[name], self._study.data_names[dataset]
        files = {"index": INDEX.format(data=data)}
        if resource := self._study.datasets[dataset].resource(view, domain):
            files["fetched"] = FETCHED.format(data=data, resource=resource)
        if network := pretrained_network(view.extractor, view.options):
            files["weights"] = FETCHED.format(data="backbones", resource=network)
        return files

    def _pairs(self, benchmark: str) -> Specification:
        dataset = self._dataset(benchmark)
        inputs = {"index": INDEX.format(data=self._study.data_names[dataset])}
        options = {"seed": self._study.seed}
        return Specification(inputs, options, code=code_digest("cdspp.stages.splits"))

    def _split(
        self, benchmark: str, setting: str, role: str, domain: str
    ) -> Specification:
        dataset = self._dataset(benchmark)
        inputs = {"labels": label_file(self._study, dataset, domain)}
        options = self._study.draw(benchmark, setting, role, domain)
        options["dataset"] = dataset
        return Specification(inputs, options, code=code_digest("cdspp.stages.splits"))

    def _test_shares(
        self, benchmark: str, setting: str, domain: str, block: str
    ) -> Specification:
        fields = {"study": self._study.name, "benchmark": benchmark, "block": block}
        split = SPLIT.format(**fields, setting=setting, role="target", domain=domain)
        labels = label_file(self._study, self._dataset(benchmark), domain)
        inputs, code = {"labels": labels, "split": split}, "cdspp.stages.splits"
        return Specification(inputs, code=code_digest(code))

    def of_fit(self, key: FitKey) -> Specification:
        """Return the specification of a fit, with patterns for any task or batch.

        Its options are the fields of `cdspp.stages.fit.Fit`.
        """
        study, (benchmark, setting, _, method, _) = self._study, key
        options = {
            "method": method,
            "options": study.method_options(method, setting),
            DEFAULTS: _defaults(method_class(method)),
            "source": study.settings[setting].source,
            "overlap": study.overlap(benchmark, setting),
            "grid": study.grid(method, setting),
            "bridge": study.bridge(benchmark, setting, method),
            "seed": study.seed,
            "numeric_threads": study.numeric_threads,
        }
        code = _method_code("cdspp.stages.fit", method)
        trials = range(1, study.setting_trials(setting, method) + 1)
        inputs = input_patterns(study, key)
        return Specification(inputs, options, code=code, trials=trials)

    def _expected_fits(self, benchmark: str) -> ExpectedFits:
        """Return the specifications that the fits of a benchmark must have."""
        keys = self._study.fit_keys(benchmark)
        return ExpectedFits({f"{k.setting}/{k.method}": self.of_fit(k) for k in keys})

    def _subspace(self, benchmark: str, task: str) -> Specification:
        study, method = self._study, self._study.shown_method()
        options = {
            "method": method,
            "options": study.method_options(method, MAIN),
            DEFAULTS: _defaults(method_class(method)),
            "overlap": study.overlap(benchmark, MAIN),
            "numeric_threads": study.numeric_threads,
        }
        code = _method_code("cdspp.stages.subspace", method)
        key = FitKey(benchmark, MAIN, task, method, study.showcase_blocks()[0])
        return Specification(files_of_fit(study, key), options, code=code)

    def _scores(self, benchmark: str) -> Specification:
        fits = self.expected_fits(benchmark).specifications.items()
        # Reasons name the innermost key: a fit with other options, or its trials.
        of_fits = {
            name: {
                name: content_digest(each._replace(trials=())),
                TRIALS: len(each.trials),
            }
            for name, each in fits
        }
        options = {"fits": of_fits}
        dataset = self._dataset(benchmark)
        domains = self._study.roles(benchmark)["target"]
        labels = {d: label_file(self._study, dataset, d) for d in domains}
        return Specification(labels, options, code=code_digest("cdspp.stages.score"))

    def _dataset(self, benchmark: str) -> str:
        return self._study.benchmarks[benchmark].dataset


def _method_code(stage: str, method: str) -> str:
    """Return a digest of the code of a stage and a method."""
    code = code_digest(stage, method_class(method).__module__)
    return content_digest([code, identity(method)])[:16]


def _defaults(cls: type[Any]) -> dict[str, Any]:
    """Return the defaults of a class that JSON can express."""
    return {
        name: value
        for name, value in defaults_of(cls).items()
        if value is None
        or isinstance(value, bool | int | str)
        or (isinstance(value, float) and isfinite(value))
    }


def job_values(specification: Specification) -> Mapping[str, Any]:
    """Return what a rule passes to its job, besides the inputs."""
    return specification._replace(inputs={})._asdict()
