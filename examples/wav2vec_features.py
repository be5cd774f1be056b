"""Features of a wav2vec 2.0 or HuBERT model: an own extractor around a network of `transformers`.

    pip install torch transformers
    export WAV2VEC=DIR  # a folder of save_pretrained(), or a name of Hugging Face's hub
    PYTHONPATH=examples asr train --data data/train --lexicon lexicon.txt --work-dir runs/wav2vec
        --config wav2vec.toml --extractor wav2vec_features:Wav2Vec
    PYTHONPATH=examples asr decode --model runs/wav2vec/model.safetensors --data data/test --out out
        --extractor wav2vec_features:Wav2Vec

The features are wide, so wav2vec.toml switches off differences, speaker transforms, warps and splicing::

    [features]
    delta_order = 0
    [speakers]
    maps = "none"
    [hybrid]
    vtlp_warps = []

The network's parameters are not in the model file. Keep its folder, and name it again for decoding.
"""

import os

import numpy as np
import torch
from transformers import AutoFeatureExtractor, AutoModel

SHIFT = 320  # samples between frames of both networks


class Wav2Vec:
    """Hidden states of layer WAV2VEC_LAYER (default: the last) of the network WAV2VEC, every 20 ms at 16 kHz."""

    frame_shift = SHIFT / 16000

    def __init__(self) -> None:
        name = os.environ["WAV2VEC"]
        self.preparation = AutoFeatureExtractor.from_pretrained(name)
        self.network = AutoModel.from_pretrained(name).eval()
        self.layer = int(os.environ.get("WAV2VEC_LAYER", "-1"))
        self.sample_rate = self.preparation.sampling_rate
        self.dimension = self.network.config.hidden_size

    def extract(self, samples: np.ndarray) -> np.ndarray:
        """Return the features, float32 (n_frames, dimension), of samples (n,) with full scale 1."""
        shortest = 400  # the field of view of the convolutions
        if len(samples) < shortest:
            return np.empty((0, self.dimension), np.float32)
        inputs = self.preparation(samples, sampling_rate=self.sample_rate, return_tensors="pt")
        with torch.inference_mode():
            found = self.network(inputs.input_values, output_hidden_states=True)
        return found.hidden_states[self.layer][0].numpy()
