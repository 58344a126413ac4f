"""A large sparse set that anyone can make: documents of words, imitating RCV1-CCAT.

Words follow Zipf's law. Each class has topics, each topic prefers some words; a document mixes
words common to all with words of its topic. Values are tf-idf, rows have unit length, and a few
labels are wrong.
"""

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

# Chosen for an optimal objective between 0.2 and 0.3 at lam 1e-4: 0.297 for a million rows, 0.284
# for 100,000, where 5.7% of the training rows are misclassified.
_TOPICS_PER_CLASS = 8
_WORDS_PER_TOPIC = 150
# Share of a document's words that come from its topic: from document to document between these.
_TOPIC_SHARE = (0.06, 0.5)
_WRONG_LABELS = 0.05
_ZIPF_EXPONENT = 0.95
# Flattens the head: stop words are gone, as in RCV1, and no word is in nearly all documents.
_ZIPF_SHIFT = 30.0
# Words are drawn by looking up a random position in a table that holds each word as often as its
# probability says. All but the rarest words of 50,000 are in it many times.
_TABLE_SIZE = 1 << 21
_ROWS_A_CHUNK = 50_000


def generate(
    n_rows: int, n_words: int = 50_000, words_per_row: int = 75, seed: int = 0
) -> tuple[sp.csr_matrix, npt.NDArray[np.int8]]:
    """Return a canonical CSR matrix of float32 with int32 indices, and labels -1 and +1."""
    rng = np.random.default_rng(seed)
    frequency = _zipf(n_words)
    # Columns in no order of frequency, as in a real dictionary.
    column = rng.permutation(n_words).astype(np.int32)
    common = _table(column, frequency)
    topics = np.stack([_topic(rng, column, frequency) for _ in range(2 * _TOPICS_PER_CLASS)])
    idf = np.empty(n_words)
    idf[column] = np.log(1 + 1 / (words_per_row * frequency))

    indices = np.empty((n_rows, words_per_row), dtype=np.int32)
    values = np.empty((n_rows, words_per_row), dtype=np.float32)
    labels = np.empty(n_rows, dtype=np.int8)
    for start in range(0, n_rows, _ROWS_A_CHUNK):
        rows = slice(start, min(start + _ROWS_A_CHUNK, n_rows))
        topic = rng.integers(len(topics), size=rows.stop - rows.start)
        words = _distinct_words(rng, common, topics, topic, words_per_row)
        # How often a word occurs in a document: mostly once.
        count = rng.geometric(0.6, size=words.shape)
        value = (1 + np.log(count)) * idf[words]
        indices[rows] = words
        values[rows] = value / np.linalg.norm(value, axis=1, keepdims=True)
        wrong = rng.random(len(topic)) < _WRONG_LABELS
        labels[rows] = np.where((topic < _TOPICS_PER_CLASS) != wrong, 1, -1)

    indptr = np.arange(0, n_rows * words_per_row + 1, words_per_row, dtype=np.int32)
    X = sp.csr_matrix((values.ravel(), indices.ravel(), indptr), shape=(n_rows, n_words))
    return X, labels


def _zipf(n_words: int) -> npt.NDArray[np.float64]:
    frequency = np.power(np.arange(n_words) + _ZIPF_SHIFT, -_ZIPF_EXPONENT)
    return np.asarray(frequency / frequency.sum(), dtype=np.float64)


def _table(
    words: npt.NDArray[np.int32], probability: npt.NDArray[np.float64], size: int = _TABLE_SIZE
) -> npt.NDArray[np.int32]:
    quantiles = (np.arange(size) + 0.5) / size
    return words[np.searchsorted(np.cumsum(probability) / probability.sum(), quantiles)]


def _topic(
    rng: np.random.Generator,
    column: npt.NDArray[np.int32],
    frequency: npt.NDArray[np.float64],
) -> npt.NDArray[np.int32]:
    """Return the table of a topic: words rare and frequent, the frequent ones less than usual."""
    weight = np.sqrt(frequency)
    n_words = min(_WORDS_PER_TOPIC, len(column))
    chosen = rng.choice(len(column), n_words, replace=False, p=weight / weight.sum())
    return _table(column[chosen], weight[chosen], size=1 << 14)


def _distinct_words(
    rng: np.random.Generator,
    common: npt.NDArray[np.int32],
    topics: npt.NDArray[np.int32],
    topic: npt.NDArray[np.int64],
    words_per_row: int,
) -> npt.NDArray[np.int32]:
    """Draw the words of each row; what a row already has is drawn again until all differ."""
    share = rng.uniform(*_TOPIC_SHARE, size=len(topic))
    words = _draw(rng, common, topics, topic, share, words_per_row)
    words.sort(axis=1)
    todo = np.arange(len(words))
    while len(todo):
        some = words[todo]
        repeated = np.zeros(some.shape, dtype=bool)
        repeated[:, 1:] = some[:, 1:] == some[:, :-1]
        has_repeats = repeated.any(axis=1)
        todo, some, repeated = todo[has_repeats], some[has_repeats], repeated[has_repeats]
        fresh = _draw(rng, common, topics, topic[todo], share[todo], words_per_row)
        some[repeated] = fresh[repeated]
        some.sort(axis=1)
        words[todo] = some
    return words


def _draw(
    rng: np.random.Generator,
    common: npt.NDArray[np.int32],
    topics: npt.NDArray[np.int32],
    topic: npt.NDArray[np.int64],
    share: npt.NDArray[np.float64],
    words_per_row: int,
) -> npt.NDArray[np.int32]:
    shape = (len(topic), words_per_row)
    words = common[rng.integers(len(common), size=shape, dtype=np.int32)]
    of_topic = rng.random(shape, dtype=np.float32) < share[:, np.newaxis].astype(np.float32)
    row, _ = np.nonzero(of_topic)
    place = rng.integers(topics.shape[1], size=len(row), dtype=np.int32)
    words[of_topic] = topics[topic[row], place]
    return words
