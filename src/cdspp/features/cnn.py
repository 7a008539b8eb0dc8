"""Activations of a convolutional network, pretrained or with random weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from cdspp.core.devices import torch_device
from cdspp.core.errors import DataError, install_hint, out_of_memory
from cdspp.core.names import UNTRAINED
from cdspp.core.provenance import file_digest
from cdspp.core.wording import shortened
from cdspp.datasets.pixels import read_images
from cdspp.features.base import FileExtractor

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


class _Network(NamedTuple):
    """A network: the last layers before its classifier, and its cost."""

    layers: Mapping[str, int | None]
    pooled: int  # inputs of the classifier
    seconds: float  # per image
    megabytes: float  # for the weights and a pass


NETWORKS = {
    "alexnet": _Network({"fc6": 3, "fc7": 6, "pool": 0}, 9216, 0.02, 250.0),
    "vgg16": _Network({"fc6": 2, "fc7": 5, "pool": 0}, 25088, 0.3, 700.0),
    "resnet50": _Network({"pool": None}, 2048, 0.08, 300.0),
}
PRETRAINED = "IMAGENET1K_V1"
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SIDE, CROP_FROM = 224, 256
IMAGES_PER_PASS = 8


@dataclass(frozen=True)
class Cnn(FileExtractor):
    """Activations of one layer of a torchvision network.

    Layers after `layer` do not run. Every pass takes the same number of images, padded
    with black ones, because the last bits depend on the size of a pass.
    """

    identifier: ClassVar[str] = "cnn"
    kind: ClassVar[str] = "images"
    modules: ClassVar[tuple[str, ...]] = ("numpy", "PIL", "torch", "torchvision")

    network: str = "alexnet"  #: Architecture: one of `NETWORKS`.
    #: ``fc6`` and ``fc7`` are the fully connected layers after their ReLU (4096 values;
    #: not in resnet50). ``pool`` is the input of the classifier: the global average of
    #: resnet50 (2048 values), the flattened last pooling of others (9216 and 25088).
    layer: str = "fc6"
    #: ``random``: drawn with `seed` as the network's constructor draws them;
    #: ``IMAGENET1K_V1``: torchvision's, which the workflow fetches; otherwise the path
    #: of a file with the network's state dict (``cdspp fetch backbones``), which may be
    #: part of a checkpoint and have a prefix such as ``module.``, or be in safetensors.
    weights: str = UNTRAINED
    seed: int = 0  #: Seed of random weights.
    #: ``square`` scales to 224 x 224; ``crop`` scales the shorter side to 256 and takes
    #: the 224 x 224 pixels in the middle.
    resize: str = "square"
    device: str = "auto"  #: A torch device; ``auto`` uses CUDA if available.

    def __post_init__(self) -> None:
        """Check the options."""
        self.check_choice("network", NETWORKS)
        if self.layer not in NETWORKS[self.network].layers:
            layers = ", ".join(NETWORKS[self.network].layers)
            raise self.refuse("layer", f"one of {layers} for {self.network}")
        self.check_choice("resize", ("square", "crop"))
        self.check_integer("seed", 0)
        for option in ("weights", "device"):
            if not isinstance(getattr(self, option), str):
                raise self.refuse(option, "a text")

    @classmethod
    def pretrained(cls, options: Mapping[str, Any]) -> str | None:
        """Return the network if the options request its published weights."""
        return options["network"] if options["weights"] == PRETRAINED else None

    def width(self) -> int:
        """Return the number of features."""
        return NETWORKS[self.network].pooled if self.layer == "pool" else 4096

    @property
    def own_files(self) -> tuple[Path, ...]:
        """The file of weights, unless torchvision publishes it."""
        is_user_file = self.weights not in (UNTRAINED, PRETRAINED)
        return (Path(self.weights),) if is_user_file else ()

    @property
    def megabytes(self) -> float:
        """Memory of the network."""
        return NETWORKS[self.network].megabytes

    def seconds(self, n_rows: int, width: int) -> float:
        """Return the processor seconds for a domain; start-up takes one or two more."""
        return 2 + NETWORKS[self.network].seconds * n_rows

    def load(self) -> None:
        """Import torch and torchvision."""
        load_torchvision()
        super().load()

    def recorded_options(self) -> dict[str, Any]:
        """Return the options, with a file of weights as its checksum, not its path."""
        options = super().recorded_options() | {
            "device": str(torch_device(self.device))
        }
        if self.weights != UNTRAINED:
            options["weights"] = f"sha256:{file_digest(self._existing())}"
        return options

    def check_own_files(self, domains: Iterable[Sequence[Path]] = ()) -> None:
        """Raise DataError unless the file of weights fits the network."""
        self._network()

    def extract(self, files: Sequence[Path]) -> np.ndarray:
        """Return the activations for `files`, one row per image, float32."""
        import torch

        device = torch_device(self.device)
        model = self._network().to(device).eval()
        rows, images = [], self.prepared(files)
        deterministic = torch.backends.cudnn.flags(
            enabled=True, benchmark=False, deterministic=True, allow_tf32=False
        )
        with torch.inference_mode(), deterministic:
            for _ in range(0, len(files), IMAGES_PER_PASS):
                batch = [*islice(images, IMAGES_PER_PASS)]
                pixels = np.zeros((IMAGES_PER_PASS, 3, SIDE, SIDE), dtype=np.float32)
                pixels[: len(batch)] = [*map(_normalised, batch)]
                output = model(torch.from_numpy(pixels).to(device))
                rows.append(output[: len(batch)].cpu().numpy())
        return np.concatenate(rows)

    def prepared(self, files: Sequence[Path]) -> Iterator[Image]:
        """Yield the images of a domain as the network sees them."""
        from PIL.Image import Resampling

        for image in read_images(files, "RGB"):
            width, height = SIDE, SIDE
            if self.resize == "crop":
                scale = CROP_FROM / min(image.size)
                width, height = (max(CROP_FROM, round(scale * n)) for n in image.size)
            image = image.resize((width, height), Resampling.BILINEAR)
            left, top = (width - SIDE) // 2, (height - SIDE) // 2
            yield image.crop((left, top, left + SIDE, top + SIDE))

    def _network(self) -> torch.nn.Sequential:
        """Return the network up to the wanted layer, with its weights."""
        import torch

        build = getattr(load_torchvision().models, self.network)
        if self.weights == UNTRAINED:
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(self.seed)
                return self._truncate(build(weights=None))
        with torch.device("meta"):
            model = build(weights=None)
        ids = {*map(id, self._truncate(model).state_dict(keep_vars=True).values())}
        parts = model.state_dict(keep_vars=True).items()
        needed = {name: value for name, value in parts if id(value) in ids}
        stored, prefix = self._stored_weights(), ""
        if not needed.keys() <= stored.keys():
            prefix = self._prefix([*needed], [*stored])
        state = {}
        for name, value in needed.items():
            given = stored.get(prefix + name)
            if given is None or given.shape != value.shape:
                shape = "nothing" if given is None else tuple(given.shape)
                text = f"{prefix}{name} needs {tuple(value.shape)}, got {shape}"
                fault = f"weights {self.weights} do not fit {self.network}"
                raise DataError(f"{fault}: {text}.")
            state[name] = given.to(value.dtype)
        model.load_state_dict(state, strict=False, assign=True)
        return self._truncate(model)

    def _prefix(self, needed: Sequence[str], names: Sequence[str]) -> str:
        """Return what precedes the names of the network in those of a checkpoint."""
        known = {*names}
        ends = [n[: -len(needed[0])] for n in names if n.endswith(f".{needed[0]}")]
        whole = [prefix for prefix in ends if {prefix + n for n in needed} <= known]
        if len(whole) > 1:
            fault = f"weights {self.weights} hold {len(whole)} networks"
            remedy = "Save the state dict of one of them to a file"
            raise DataError(f"{fault} ({shortened(whole)}). {remedy}.")
        return max(["", *ends], key=lambda p: sum(p + n in known for n in needed))

    def _stored_weights(self) -> Mapping[str, torch.Tensor]:
        """Return all tensors of the file of weights, by their names in it."""
        import torch

        path = self._existing()
        try:
            if path.suffix.lower() == ".safetensors":
                from safetensors.torch import load_file

                return load_file(path)
            stored = torch.load(path, map_location="cpu", weights_only=True)
        except ImportError as error:
            raise DataError(f"{install_hint('safetensors', str(path))}.") from error
        except Exception as error:  # torch raises any error for other files
            if out_of_memory(error):
                raise
            # Its own advice would be to run the code that pickled objects contain.
            is_object = "Unsupported global" in str(error)
            fault = "expected a state dict, but the file is damaged or of another kind"
            if is_object:
                fault = "pickled objects, such as a whole network, are not loaded"
            raise DataError(f"{path}: {fault}. {self._remedy}") from error
        if isinstance(stored, Mapping):
            return dict(_tensors(stored))
        fault = f"expected a state dict, got {type(stored).__name__}"
        raise DataError(f"{path}: {fault}. {self._remedy}")

    @property
    def _remedy(self) -> str:
        save = f"torch.save(model.state_dict(), {Path(self.weights).name!r})"
        return f"Save the state dict of {self.network}: {save}."

    def _truncate(self, model: torch.nn.Module) -> torch.nn.Sequential:
        import torch

        end = NETWORKS[self.network].layers[self.layer]
        *body, classifier = model.children()
        head = [] if end is None else list(classifier.children())[:end]
        return torch.nn.Sequential(*body, torch.nn.Flatten(), *head)

    def _existing(self) -> Path:
        path = Path(self.weights)
        if path.is_file():
            return path
        message = f"extractor cnn: the file of weights {path} does not exist."
        if self.weights == PRETRAINED:
            message += " Fetch it with cdspp fetch backbones."
        raise DataError(f"{message} Give the path of a state dict, or random.")


def _tensors(content: Mapping[Any, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors of a state dict or checkpoint, with names such as a.b.c."""
    import torch

    for name, value in content.items():
        if isinstance(value, torch.Tensor):
            yield str(name), value
        elif isinstance(value, Mapping):
            yield from ((f"{name}.{rest}", part) for rest, part in _tensors(value))


def _normalised(image: Image) -> np.ndarray:
    """Return an image as torchvision's networks expect it, channels first."""
    mean, deviation = np.array([MEAN, DEVIATION], dtype=np.float32)
    values = (np.asarray(image, dtype=np.float32) / 255 - mean) / deviation
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def load_torchvision() -> Any:
    """Return the module torchvision, even if its compiled operators do not load."""
    try:
        import torchvision
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        import torch

        # With a CPU-only torch, torchvision lacks the schemas of two operators.
        schema = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        for name in ("nms", "qnms"):
            if not hasattr(torch.ops.torchvision, name):
                torch.library.define(f"torchvision::{name}", schema)
        import torchvision
    return torchvision
