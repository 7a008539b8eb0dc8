"""Archives: what is wanted comes out whole; nothing else is trusted."""

from __future__ import annotations

import errno
import gzip
import resource
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.downloads import contents, make_tar, make_zip

from cdspp.core.errors import DataError, DiskFullError
from cdspp.datasets import archives
from cdspp.datasets.archives import extract, matches

FILES = {"top/a/one.txt": b"first" * 100, "top/b/two.txt": b"second" * 200}
MOST = 10_000
Make = Callable[[Mapping[str, bytes]], bytes]
FORMS: dict[str, Make] = {
    "tar": lambda files: make_tar(files, "w"),
    "tar.gz": make_tar,
    "tar.bz2": lambda files: make_tar(files, "w:bz2"),
    "tar.xz": lambda files: make_tar(files, "w:xz"),
    "zip": make_zip,
}
PACKED = [name for name in FORMS if name != "tar"]  # those with checksums


class Room:
    """An archive, whose suffix says nothing about its form, and a folder for it."""

    def __init__(self, root: Path) -> None:
        self.archive, self.folder = root / "archive.bin", root / "out"

    def put(self, content: bytes) -> None:
        self.archive.write_bytes(content)

    def put_link(self, kind: bytes) -> None:
        """Let the archive be a tar of one link, or device."""
        info = tarfile.TarInfo("top/link")
        info.type, info.linkname = kind, "/etc/passwd"
        with tarfile.open(self.archive, "w") as made:
            made.addfile(info)

    def extract(
        self, wanted: Any = str, most_bytes: int = MOST, name: str = "archive.bin"
    ) -> Any:
        """Unpack all members under their own names, or those wanted."""
        return extract(self.archive, self.folder, wanted, most_bytes, name=name)

    def refuse(self, message: str, error: Any = DataError, **options: Any) -> None:
        """Unpack, in vain, and leave nothing."""
        with pytest.raises(error, match=message):
            self.extract(**options)
        assert [path.name for path in self.folder.parent.iterdir()] == ["archive.bin"]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_the_content_decides_how_an_archive_is_read(room: Room, form: str) -> None:
    room.put(FORMS[form](FILES))
    assert room.extract() == {name: name for name in FILES}
    assert contents(room.folder) == FILES


def test_only_what_is_wanted_comes_out_under_the_name_wanted(room: Room) -> None:
    room.put(make_tar(FILES))
    names = {"top/b/two.txt": "deep/second.txt"}
    taken = room.extract(names.get)
    assert taken == {"deep/second.txt": "top/b/two.txt"}
    assert contents(room.folder) == {"deep/second.txt": FILES["top/b/two.txt"]}


def test_what_was_unpacked_before_is_replaced_unless_it_fails(room: Room) -> None:
    room.put(make_zip(FILES))
    room.folder.mkdir()
    (room.folder / "old.txt").write_text("from another archive")
    room.extract()
    assert contents(room.folder) == FILES
    assert stat.S_IMODE(room.folder.stat().st_mode) == 0o755
    with pytest.raises(DataError, match="holds more than"):
        room.extract(most_bytes=100)
    assert contents(room.folder) == FILES


@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_resource_forks_are_passed_over(room: Room, make: Make) -> None:
    room.put(make({"top/._one.txt": b"fork", "__MACOSX/top/._two.txt": b"", **FILES}))
    room.extract()
    assert contents(room.folder) == FILES


@pytest.mark.parametrize("make", [make_tar, make_zip])
@pytest.mark.parametrize("name", ["../out.txt", "top/../../out.txt", "/tmp/out.txt"])
def test_a_path_that_leads_out_is_refused(room: Room, make: Make, name: str) -> None:
    room.put(make({**FILES, name: b"escaped"}))
    room.refuse(f"archive.bin: the member '{name}' .*leads out")


def test_a_wanted_path_that_leads_out_is_refused(room: Room) -> None:
    room.put(make_tar(FILES))
    room.refuse("leads.*folder", wanted=lambda name: f"../{name}")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_a_link_or_device_in_a_tar_is_refused(room: Room, kind: bytes) -> None:
    room.put_link(kind)
    room.refuse("the member 'top/link' .*link.*device")


def test_a_link_in_a_zip_is_refused(room: Room) -> None:
    info = zipfile.ZipInfo("top/passwd")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(room.archive, "w") as made:
        made.writestr(info, "/etc/passwd")
    room.refuse("the member 'top/passwd' .*link.*device")


@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_two_members_for_one_file_are_refused(room: Room, make: Make) -> None:
    room.put(make(FILES))
    message = r"'top/b/two\.txt' .* same, .* 'top/a/one\.txt'"
    room.refuse(message, wanted=lambda name: "same")


@pytest.mark.parametrize("form", FORMS)
def test_an_archive_that_swells_is_stopped(room: Room, form: str) -> None:
    room.put(FORMS[form]({"bomb": bytes(5 << 20)}))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, limits[1]))  # for files written
    try:
        room.refuse("10000 bytes .*'bomb'")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_many_small_members_count_together(room: Room) -> None:
    room.put(make_zip({f"{k}.txt": bytes(1000) for k in range(11)}))
    room.refuse(r"10000 bytes .*'10\.txt'")


def test_a_length_that_a_header_hides_is_counted_all_the_same(room: Room) -> None:
    room.put(make_zip({"bomb": bytes(1 << 20)}))
    data, length = room.archive.read_bytes(), (1 << 20).to_bytes(4, "little")
    assert data.count(length) == 2
    room.put(data.replace(length, (5).to_bytes(4, "little")))
    room.refuse("10000 bytes|damaged")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.05, 0.8])
def test_a_truncated_archive_is_refused(room: Room, form: str, share: float) -> None:
    room.put(FORMS[form]({**FILES, "top/three.bin": bytes(range(256)) * 8}))
    data = room.archive.read_bytes().rstrip(b"\0")  # tar ends in kilobytes of zeros
    room.put(data[: int(share * len(data))])
    room.refuse("archive.bin: damaged, .*tar.*zip")


@pytest.mark.parametrize("form", PACKED)
def test_damage_in_the_middle_is_noticed(room: Room, form: str) -> None:
    words = " ".join(map(str, np.random.default_rng(0).integers(0, 10**6, 30_000)))
    room.put(FORMS[form]({"words.txt": words.encode()}))
    whole = room.archive.read_bytes()
    for share in np.linspace(0.05, 0.97, 12):  # each place is noticed in another way
        place = int(share * len(whole))
        room.put(whole[:place] + bytes(100) + whole[place + 100 :])
        room.refuse(r"archive\.bin: damaged", most_bytes=10**6)


def test_damage_behind_the_last_member_is_noticed(room: Room) -> None:
    room.put(make_tar(FILES, "w"))
    data = bytearray(gzip.compress(room.archive.read_bytes() + bytes(1 << 20)))
    data[-5] ^= 0x55  # in the checksum of everything
    room.put(data)
    room.refuse(r"archive.bin: damaged, .* \(CRC check failed")


def test_a_broken_header_does_not_pass_for_the_end(room: Room) -> None:
    room.put(make_tar(FILES, "w"))
    data = bytearray(room.archive.read_bytes())
    data[data.index(b"top/b/two.txt")] ^= 0x55
    room.put(data)
    room.refuse("damaged, .*tar.*zip")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip"])
def test_what_is_no_archive_is_refused(room: Room, content: bytes) -> None:
    room.put(content)
    room.refuse("archive.bin: damaged, .*tar.*zip")


def test_a_name_that_no_file_can_have_is_refused(room: Room) -> None:
    with tarfile.open(room.archive, "w", format=tarfile.PAX_FORMAT) as made:
        info = tarfile.TarInfo("top/one.txt")
        info.pax_headers = {"path": "top/o\0e.txt"}
        made.addfile(info)
    room.refuse("damaged, .*null byte")


def test_an_encrypted_member_is_refused(room: Room) -> None:
    room.put(make_zip({"secret.txt": b"text"}))
    data = bytearray(room.archive.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    room.put(data)
    room.refuse(r"secret\.txt.* is encrypted")


def test_a_full_disk_is_told_and_leaves_nothing(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(member: object, path: Path, most: int) -> int:
        path.parent.mkdir(parents=True)
        path.write_bytes(b"a part")
        raise OSError(errno.ENOSPC, "No space left on device")

    room.put(make_tar(FILES))
    monkeypatch.setattr(archives, "_write", full)
    room.refuse("space.*disk", DiskFullError)


def test_a_pattern_spans_folders_and_allows_for_none_around() -> None:
    assert matches("a/b/Office10/x.mat", "*/Office10/x.mat")
    assert matches("Office10/x.mat", "*/Office10/x.mat")
    assert not matches("MyOffice10/x.mat", "*/Office10/x.mat")


def test_a_failure_leaves_what_was_unpacked_before(room: Room) -> None:
    room.put(make_zip(FILES))
    room.extract()
    with pytest.raises(DataError, match="holds more than"):
        room.extract(most_bytes=100)
    assert contents(room.folder) == FILES
