"""The journal of one life, as it is written: one block for each turn, before effects leave.

What was written survives the end of the process. What a durable field depends on is
synced to the disk, too, in a thread, before effects leave (`DiskSync`), while later turns go
on; their effects wait for those before them.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, final

from worldline.deploy.disk_sync import DiskSync
from worldline.deploy.journal_header import first_header
from worldline.deploy.journal_options import JournalOptions
from worldline.deploy.journal_tail import JournalTail
from worldline.deploy.locking import FolderLock
from worldline.deploy.pieces import LARGE, pieces
from worldline.deploy.recovery import Restored, restore
from worldline.deploy.segment_file import (
    SegmentWriter,
    compress_later,
    forget_oldest,
    sync_file,
)
from worldline.deploy.turn_times import (
    FULL,
    TOO_LARGE,
    WRITTEN,
    TurnTimes,
    WriteBlock,
)
from worldline.model.data.identity import NodeId
from worldline.model.errors import WorldlineError
from worldline.model.system import System
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.messagepack import pack
from worldline.trace.journal.records import (
    RECEIVED,
    CheckpointRecord,
    DeltaRecord,
    GapRecord,
    JournalRecord,
    StartedRecord,
    StoppedRecord,
    packed_records,
    spell,
)
from worldline.trace.journal.segments import JournalHeader, folder_of
from worldline.trace.journal.sharing import SHARED, share

SEGMENT = 16 << 20
"""Bytes of a segment that is full: another is begun."""

_AGAIN_S = 1.0
"""Seconds between two attempts to write on."""

LASTING = (StartedRecord, DeltaRecord)
"""Records of what outlives a life, which are written in any case."""


class JournalFailure(WorldlineError):
    """A journal that cannot be written, though something depends on it."""


@final
class JournalWriter:
    """The writer of one life's journal.

    Made by `open`. Not for several threads.

    Attributes
    ----------
    disk
        Syncs what was written.
    write_received
        Writes, as one block, the packets of a turn in which messages came in, and nothing has to
        be said of them, as in most. Returns `WRITTEN`, or what `heed` is to be told.
    needs_checkpoint
        Whether `checkpoint` should be called: the segment is full, or writing failed and
        may be tried again.
    """

    def __init__(
        self,
        lock: FolderLock,
        codec: Codec,
        header: JournalHeader,
        options: JournalOptions,
        named: Callable[[str], None],
    ) -> None:
        self._lock, self._codec, self._header = lock, codec, header
        self._options, self._named = options, named
        self._file: SegmentWriter | None = None
        self.disk = DiskSync(self._open_file)
        self._failed_at: float | None = None
        self._lost = self.unrecorded = 0
        self._closed_bytes = 0
        self._times = TurnTimes(SEGMENT)
        self.write_received: WriteBlock = self._receive_carefully
        self._write_plain: WriteBlock | None = None
        self.needs_checkpoint = False

    @property
    def bytes_written(self) -> int:
        """The bytes that were written so far, in this life."""
        return self._closed_bytes + (0 if self._file is None else self._file.size)

    @property
    def records_events(self) -> bool:
        """Whether events are written, or only what outlives a life."""
        return self._options.events

    @property
    def is_synced(self) -> bool:
        """Whether anything is ever waited for until it is on the disk."""
        return self._options.sync != "never"

    @classmethod
    def open(
        cls,
        recording: Path,
        system: System,
        codec: Codec,
        node: NodeId,
        options: JournalOptions,
        *,
        named: Callable[[str], None] = lambda line: None,
    ) -> tuple[JournalWriter, Restored]:
        """Begin the journal of the next life of a node.

        Parameters
        ----------
        recording
            The folder of all journals; it is made.
        named
            Takes a line for whoever watches.

        Raises
        ------
        UsageError
            If another process writes this journal, or nobody can write there.
        InputError
            If the journal of the lives before is damaged.
        """
        lock = FolderLock(folder := folder_of(recording, node.name))
        try:
            restored = restore(folder, codec, system.types[system.index[node]])
        except BaseException:
            lock.close()
            raise
        if restored.torn:
            named(
                f"{node}: {restored.torn} bytes of its journal were torn, and cut off"
            )
        header = first_header(system, codec, node, restored.incarnation, options)
        return cls(lock, codec, header, options, named), restored

    def commit(self, records: Sequence[JournalRecord], durable: bool = False) -> None:
        """Write the records of a turn as one block; owe it to the disk, where it has to be.

        Parameters
        ----------
        records
            At least one.
        durable
            Whether a durable field changed.

        Raises
        ------
        JournalFailure
            If it cannot be written, and something depends on it.
        """
        write, file = self._write_plain, self._file
        if durable or write is None or file is None:
            self._commit_carefully(records, durable=durable)
            return
        # Most other turns: of a timer, a call, an error. Between two handlers all code is cold, so
        # what is little is done in few places.
        if told := write(packed_records(records, self._codec.values)):
            self._heed(file, told, len(records))

    def heed(self, told: int, packets: list[bytes]) -> None:
        """Do what is to be done about packets that `write_received` could not simply write."""
        assert self._file is not None, "something was said of it"
        if told == TOO_LARGE:
            self._receive_carefully(packets)
        else:
            self._heed(self._file, told, len(packets))

    def joined(self, packets: list[bytes]) -> list[bytes]:
        """Return packets in few pieces, the large ones alone, or by their names, if that is wanted."""
        if self._options.contents == "ids":
            named = self._codec.named
            packets = [named(one) if len(one) > LARGE else one for one in packets]
        return pieces(packets)

    @property
    def is_overfull(self) -> bool:
        """Whether the segment cannot wait any longer for the next one to be begun."""
        return self._file is not None and self._file.size >= 2 * SEGMENT

    def checkpoint(self, state: bytes) -> None:
        """Write a checkpoint; where the segment is full, begin another with it."""
        if self._file is None:
            return
        records: list[JournalRecord] = [CheckpointRecord(state)]
        is_full = self._file.size >= SEGMENT
        if self._failed_at is None and not is_full:
            self.commit(records)
            return
        if self._failed_at is not None:
            records.insert(0, GapRecord(self._lost, "it could not be written"))
        try:
            self._roll(records)
        except OSError:
            self._failed_at = time.monotonic()
            self._be_careful()
            self.needs_checkpoint = False
            return
        if self._failed_at is not None:
            self._named(
                f"{self._header.node}: its journal goes on; {self._lost} events "
                "are not in it"
            )
        self._failed_at, self._lost = None, 0
        self._be_quick()
        self.needs_checkpoint = False

    def close(self, reason: str | None) -> None:
        """Write that the node stopped, if there is a reason; sync, and close the file."""
        file = self._file
        if file is not None:
            if reason is not None and self._failed_at is None:
                with contextlib.suppress(OSError, JournalFailure):
                    self.commit([StoppedRecord(reason)])
                    file.flush()
                    if self.is_synced:
                        sync_file(file.fd)
            self._be_careful()
            self._times.leave()
            file.close()
            self._closed_bytes += file.size
            self._file = None
        self.disk.close()
        self._lock.close()

    # ------------------------------------------------------------------------ inside

    def _open_file(self) -> int | None:
        return None if self._file is None else self._file.fd

    def _heed(self, file: SegmentWriter, told: int, records: int) -> None:
        """Take note of a full segment; go on without a journal, if the kernel has met an error."""
        if told == FULL:
            self.needs_checkpoint = True
            return
        file.cut()
        self._fail(_error(told), records, durable=False)

    def _receive_carefully(self, packets: list[bytes]) -> int:
        """Write packets as records, if any; see `write_received`."""
        if self._options.events:
            received = [[RECEIVED, piece] for piece in self.joined(packets)]
            self._commit(received, durable=False)
        return WRITTEN

    def _commit_carefully(
        self, records: Sequence[JournalRecord], *, durable: bool
    ) -> None:
        """Write records whatever they are, and whatever has to be asked before."""
        if not self._options.events:
            records = [each for each in records if type(each) in LASTING]
        if records:
            values = self._codec.values
            spelt = [spell(record, values) for record in records]
            self._commit(spelt, durable=durable)

    def _commit(self, spelt: list[list[Any]], *, durable: bool) -> None:
        try:
            if self._failed_at is not None:
                raise OSError("it failed before")
            if self._file is None:
                self._begin(spelt, durable=durable)
            else:
                self._append(self._file, spelt, durable=durable)
                if self._file.size >= SEGMENT:
                    self.needs_checkpoint = True
        except OSError as error:
            self._fail(error, len(spelt), durable=durable)
            return
        sync = self._options.sync
        if sync == "always" or (durable and sync == "durable"):
            self.disk.owe()

    def _append(
        self, file: SegmentWriter, spelt: list[list[Any]], *, durable: bool
    ) -> None:
        is_shared, times = durable and share(spelt), self._times
        write = times.write_shared if is_shared else times.write_records
        if durable and not is_shared and self._options.sync == "durable":
            write = times.write_synced
        if write is None:
            file.append(self._content(spelt, is_shared=is_shared))
            return
        told = write(pack(spelt))
        if told < 0:
            file.cut()
            raise _error(told)

    def _content(self, spelt: list[list[Any]], *, is_shared: bool) -> bytes:
        turn = [*self._times.passed(), spelt]
        return pack([*turn, SHARED] if is_shared else turn)

    def _begin(self, spelt: list[list[Any]], *, durable: bool) -> None:
        """Make the first segment, whole or not at all: it is the proof of this life."""
        content = self._content(spelt, is_shared=durable and share(spelt))
        folder, header, options = self._lock.folder, self._header, self._options
        self._file = file = SegmentWriter.create(folder, header, content)
        if options.events and options.sync != "always":
            file.take(JournalTail.create(folder), header)
        self._be_quick()

    def _be_quick(self) -> None:
        """Let the kernel write what it can, from now on."""
        options, times, file = self._options, self._times, self._file
        assert file is not None, "it is called where there is one"
        times.into(file)
        if options.events and options.sync != "always":
            self._write_plain = times.write_records
            if options.contents == "all" and times.write_packets is not None:
                self.write_received = times.write_packets

    def _be_careful(self) -> None:
        """Let nothing be written without asking whether anything can be."""
        self._write_plain = None
        self.write_received = self._receive_carefully

    def _roll(self, records: list[JournalRecord]) -> None:
        old = self._file
        if old is not None:
            old.flush()
            if self.is_synced:
                self.disk.settle()
        number, before = self._header.segment + 1, None if old is None else old.size
        header = replace(self._header, segment=number, before=before)
        values = self._codec.values
        self._times.begin()
        spelt = [spell(each, values) for each in records]
        content = self._content(spelt, is_shared=False)
        new = SegmentWriter.create(self._lock.folder, header, content)
        self._header, self._file = header, new
        if old is not None:
            new.take(old.tail, header)
            self._closed_bytes += old.size
            old.tail = None
            old.close()
            compress_later(old.path)
        if self._options.keep is not None:
            forget_oldest(self._lock.folder, self._options.keep)

    def _fail(self, error: OSError, records: int, *, durable: bool) -> None:
        """Go on without a journal, if nothing depends on it."""
        node = self._header.node
        said = error.strerror or str(error)
        stops = durable or self._options.on_log_failure == "stop" or self._file is None
        if stops:
            raise JournalFailure(
                f"the journal of {node} cannot be written: {said}",
                remedy="make room in its folder; the node can start again from there",
            ) from None
        now = time.monotonic()
        if self._failed_at is None:
            self._named(
                f"{node}: its journal cannot be written ({said}); it goes on "
                "without, and tries again each second"
            )
            self._failed_at = now
            self._be_careful()
        elif now - self._failed_at >= _AGAIN_S:
            self.needs_checkpoint = True
        self._lost += records
        self.unrecorded += records


def _error(told: int) -> OSError:
    """Return the error that the kernel has met instead of writing."""
    return OSError(-told, os.strerror(-told))
