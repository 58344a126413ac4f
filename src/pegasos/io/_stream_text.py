"""Text in pieces of whole lines: ranges of a file, found by seeking, or blocks decompressed.

A place in the text is a number of bytes from the beginning of the file. A line belongs to the piece
in which it begins.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pegasos._memory import size_text
from pegasos.io._errors import DataError
from pegasos.io._open import open_bytes, reading
from pegasos.io._stream_files import SourceFile

__all__ = ["LineEnds", "TextBlock", "TextPiece", "TextRange", "compressed_refusal", "text_pieces"]

_STEP = 1 << 16  # read at once in search of the end of a line
_COUNTED = 1 << 20  # read at once to count lines

# Returns so many bytes from this place on, or fewer at the end.
_At = Callable[[int, int], bytes]


@dataclass(frozen=True)
class LineEnds:
    """What ends a line of a format, and how long a line may be."""

    pattern: re.Pattern[bytes]
    longest: int

    def starts(self, path: str, at: _At, start: int, end: int, size: int) -> list[int]:
        """Return where pieces of about this size begin, and the end of the last."""
        n_pieces = max(1, -(-(end - start) // size))
        places = (start + (end - start) * k // n_pieces for k in range(1, n_pieces))
        found = {self._line_after(path, at, place, end) for place in places}
        return sorted({start, *found, end})

    def _line_after(self, path: str, at: _At, place: int, end: int) -> int:
        """Return where the first line begins that does not begin before this place."""
        begin = place - 1  # the line before may end there
        while begin < end:
            text = at(begin, min(_STEP, end - begin))
            if not text:
                break
            if match := self.pattern.search(text):
                after = begin + match.end()
                # A carriage return at the end of what was read may be followed by a line feed.
                return after + (match[0] == b"\r" and after < end and at(after, 1) == b"\n")
            begin += len(text)
            if begin - place > self.longest:
                raise self.too_long(path)
        return end

    def too_long(self, path: str) -> DataError:
        return DataError(
            f"{path}: a line is longer than {size_text(self.longest)}",
            "is this text of its format? name another with format=",
        )

    def last(self, text: bytes, is_all: bool) -> int:
        """Return where the last line of the text ends, 0 if none does."""
        if is_all:
            return len(text)
        # A carriage return at the end may be followed by a line feed: it is left for later.
        ends = (text.rfind(b"\n"), text.rfind(b"\r", 0, -1) if self.has_returns else -1)
        return max(ends) + 1

    @property
    def has_returns(self) -> bool:
        return self.pattern.search(b"\r") is not None

    def count(self, blocks: Iterable[bytes]) -> int:
        """Return how many lines end in blocks of text that follow each other."""
        total, before = 0, b""
        for block in blocks:
            total += block.count(b"\n")
            if self.has_returns:
                total += block.count(b"\r") - block.count(b"\r\n")
                total -= before.endswith(b"\r") and block.startswith(b"\n")
            before = block
        return total


@dataclass(frozen=True)
class TextRange:
    """Lines of a file that can be read in any order."""

    file: SourceFile
    ends: LineEnds
    start: int
    end: int

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def size(self) -> int:
        return self.end - self.start

    def read(self) -> bytes:
        self.file.check()
        with reading(self.path), Path(self.path).open("rb") as file:
            file.seek(self.start)
            return file.read(self.size)

    def split(self, size: int) -> list["TextRange"]:
        with reading(self.path), Path(self.path).open("rb", buffering=0) as file:
            starts = self.ends.starts(self.path, _reader(file), self.start, self.end, size)
        return [
            TextRange(self.file, self.ends, start, end) for start, end in itertools.pairwise(starts)
        ]

    def lines_before(self) -> int:
        """Count the lines of the file before these: for messages, as it takes time."""
        with reading(self.path), Path(self.path).open("rb", buffering=0) as file:
            at = _reader(file)
            return self.ends.count(
                at(k, min(_COUNTED, self.start - k)) for k in range(0, self.start, _COUNTED)
            )


@dataclass(frozen=True)
class TextBlock:
    """Lines that are in memory, for they can only be read from beginning to end."""

    file: SourceFile
    ends: LineEnds
    start: int
    text: bytes
    n_before: int  # lines

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def size(self) -> int:
        return len(self.text)

    def read(self) -> bytes:
        return self.text

    def split(self, size: int) -> list["TextBlock"]:
        end = len(self.text)
        starts = self.ends.starts(self.path, lambda k, n: self.text[k : k + n], 0, end, size)
        blocks, n_before = [], self.n_before
        for start, end in itertools.pairwise(starts):
            text = self.text[start:end]
            blocks.append(TextBlock(self.file, self.ends, self.start + start, text, n_before))
            n_before += self.ends.count([text])
        return blocks

    def lines_before(self) -> int:
        return self.n_before


TextPiece = TextRange | TextBlock


def text_pieces(file: SourceFile, ends: LineEnds, size: int, start: int = 0) -> Iterator[TextPiece]:
    """Yield the lines of a file from this place on, in pieces of about this size.

    They can be read in any order later, and need little memory, unless the file is compressed.
    """
    file.check()
    if file.is_compressed():
        yield from _blocks(file, ends, size, start)
    else:
        yield from TextRange(file, ends, start, file.size).split(size)


def compressed_refusal(files: list[SourceFile]) -> DataError | None:
    """Return why the pieces of text cannot be read in any order, if so."""
    packed = next((file.path for file in files if file.is_compressed()), None)
    if packed is None:
        return None
    return DataError(
        f"{packed}: compressed text cannot be read in any order",
        "give a folder for a cache (cache=), or decompress the file",
    )


def _blocks(file: SourceFile, ends: LineEnds, size: int, start: int) -> Iterator[TextBlock]:
    with reading(file.path), open_bytes(file.path) as stream:
        n_before, rest, is_all = ends.count([_read(stream, start)]), b"", False
        while not is_all:
            wanted = max(size - len(rest), len(rest), 1)  # a line may be longer than the size
            text = rest + _read(stream, wanted)
            is_all = len(text) - len(rest) < wanted
            used = ends.last(text, is_all)
            text, rest = text[:used], text[used:]
            if len(rest) > ends.longest:
                raise ends.too_long(file.path)
            if text:
                yield TextBlock(file, ends, start, text, n_before)
                start += used
                n_before += ends.count([text])


def _reader(file: IO[bytes]) -> _At:
    def at(place: int, n_bytes: int) -> bytes:
        file.seek(place)
        return file.read(n_bytes)

    return at


def _read(stream: IO[bytes], n_bytes: int) -> bytes:
    """Read as many bytes as there are: a stream may give fewer at a time."""
    parts, missing = [], n_bytes
    while missing and (part := stream.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
