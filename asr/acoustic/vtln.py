"""Vocal-tract length normalization: the frequency warp that maximizes a speaker's likelihood under the mixtures.

Lee and Rose (1998), "A frequency warping approach to speaker normalization". A warp is a linear transform of the
cepstra (Pitz and Ney 2005, "Vocal tract normalization equals linear transformation in cepstral space"), so it is a
special case of fMLLR. The fMLLR statistics give the likelihood of every warp without another pass over the frames (Kim,
Umesh, Gales, Hain and Woodland 2004, "Using VTLN for broadcast news transcription").

The mixtures are reduced to one Gaussian per state. Larger mixtures model each training speaker, which hides the effect
of the warp (Welling, Ney and Kanthak 2002, "Speaker adaptive modeling by vocal tract normalization").
"""

from collections.abc import Sequence

import numpy as np

from asr.features.config import FeatureConfig
from asr.features.frontend import FrontEnd
from asr.features.warping import warping_matrix
from asr.util.errors import FeatureError

WARPS = tuple(round(0.8 + 0.02 * number, 2) for number in range(21))
"""Candidate warps, as in `asr.features.warping.warping_matrix`."""
LONGER_AND_SHORTER = (0.92, 1.08)
"""Warps for simulated speakers; the same as for the hybrids' copies."""


def why_no_warps(config: FeatureConfig) -> str | None:
    """Explain why frames of these settings cannot be warped by one matrix; None if they can."""
    if not config.has_cepstra:
        return "other features than cepstra have no warps"
    if config.lda_dimension is not None:
        return "frames after LDA are not cepstra and their deltas"
    if config.normalize == "utterance" or (config.normalize == "speaker" and config.speaker_prior == 0):
        return (
            'the frames are divided by deviations that the model does not have. Use normalize = "corpus", '
            '"none", or "speaker" with a speaker_prior'
        )
    return None


def why_not_warped(front_end: FrontEnd) -> str | None:
    """Do the same as `why_no_warps` for a fitted front end."""
    config, n_static = front_end.config, front_end.static_dimension_
    reason = why_no_warps(config)
    if reason is None and n_static != config.static_dimension:
        reason = f"it needs {config.static_dimension} columns of [features], but the features have {n_static}"
    return reason


def require_cepstra(front_end: FrontEnd) -> None:
    """Raise FeatureError unless one matrix can warp the frames, which must be cepstra and energy."""
    reason = why_not_warped(front_end)
    if reason is not None:
        raise FeatureError(f"vocal-tract length normalization does not support these features: {reason}")


def warps_of_frames(front_end: FrontEnd) -> np.ndarray:
    """Return the matrix of each of `WARPS` for the frames of a front end, float64 (n_warps, n_features, n_features).

    Differences are warped as the cepstra, because both transforms are linear; the energy stays. For normalized frames
    the training deviations replace those of the speaker, and the offset must be estimated. Raises FeatureError as
    `require_cepstra` does.
    """
    return _matrices(front_end, WARPS)


def maps_of_other_lengths(front_end: FrontEnd, transforms: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the transforms, float64 (n, n + 1), of the same speakers with a shorter and a longer vocal tract.

    The warp A changes the matrix W of a transform to W A; the offset stays. Raises FeatureError as `require_cepstra`
    does.
    """
    vtlp_warps = _matrices(front_end, LONGER_AND_SHORTER)
    return [np.column_stack([one[:, :-1] @ warp, one[:, -1]]) for one in transforms for warp in vtlp_warps]


def _matrices(front_end: FrontEnd, vtlp_warps: Sequence[float]) -> np.ndarray:
    require_cepstra(front_end)
    config, n_static = front_end.config, front_end.static_dimension_
    cepstra = slice(1, None) if config.energy_first else slice(0, config.n_cepstra)
    static = np.tile(np.eye(n_static), (len(vtlp_warps), 1, 1))
    static[:, cepstra, cepstra] = [warping_matrix(warp, config) for warp in vtlp_warps]
    n_blocks = front_end.n_features_ // n_static
    matrices = np.kron(np.eye(n_blocks), static)
    deviation = front_end.deviation_ if front_end.prior_ is None else front_end.prior_.deviation
    if deviation is not None:
        scale = np.resize(deviation.astype(np.float64), front_end.n_features_)
        matrices *= scale / scale[:, None]
    return matrices
