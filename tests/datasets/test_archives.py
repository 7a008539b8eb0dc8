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

import numpy as np
import pytest
from support.toy_download import contents, make_tar, make_zip

from cdspp.core.errors import DataError, DiskFullError
from cdspp.datasets import archives
from cdspp.datasets.archives import matches, unpack

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


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return a path whose suffix says nothing about the form."""
    return tmp_path / "archive.bin"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


def everything(member: str) -> str:
    return member


def refused(archive: Path, folder: Path, message: str) -> None:
    with pytest.raises(DataError, match=message):
        unpack(archive, folder, everything, MOST)
    assert [path.name for path in folder.parent.iterdir()] == [archive.name]


@pytest.mark.parametrize("form", FORMS)
def test_the_content_decides_how_an_archive_is_read(
    archive: Path, folder: Path, form: str
) -> None:
    archive.write_bytes(FORMS[form](FILES))
    assert unpack(archive, folder, everything, MOST) == {name: name for name in FILES}
    assert contents(folder) == FILES


def test_only_what_is_wanted_comes_out_under_the_name_wanted(
    archive: Path, folder: Path
) -> None:
    archive.write_bytes(make_tar(FILES))
    names = {"top/b/two.txt": "deep/second.txt"}
    taken = unpack(archive, folder, names.get, MOST)
    assert taken == {"deep/second.txt": "top/b/two.txt"}
    assert contents(folder) == {"deep/second.txt": FILES["top/b/two.txt"]}


def test_what_was_unpacked_before_is_replaced(archive: Path, folder: Path) -> None:
    archive.write_bytes(make_zip(FILES))
    folder.mkdir()
    (folder / "old.txt").write_text("from another archive")
    unpack(archive, folder, everything, MOST)
    assert contents(folder) == FILES
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_failure_leaves_what_was_unpacked_before(archive: Path, folder: Path) -> None:
    archive.write_bytes(make_zip(FILES))
    unpack(archive, folder, everything, MOST)
    with pytest.raises(DataError, match="holds more than"):
        unpack(archive, folder, everything, 100)
    assert contents(folder) == FILES


@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_resource_forks_are_passed_over(
    archive: Path, folder: Path, make: Make
) -> None:
    archive.write_bytes(
        make({"top/._one.txt": b"fork", "__MACOSX/top/._two.txt": b"", **FILES})
    )
    unpack(archive, folder, everything, MOST)
    assert contents(folder) == FILES


@pytest.mark.parametrize("make", [make_tar, make_zip])
@pytest.mark.parametrize("name", ["../out.txt", "top/../../out.txt", "/tmp/out.txt"])
def test_a_path_that_leads_out_is_refused(
    archive: Path, folder: Path, make: Make, name: str
) -> None:
    archive.write_bytes(make({**FILES, name: b"escaped"}))
    refused(archive, folder, f"archive.bin: the member '{name}' leads out of the fol")


def test_a_wanted_path_that_leads_out_is_refused(archive: Path, folder: Path) -> None:
    archive.write_bytes(make_tar(FILES))
    with pytest.raises(DataError, match="leads out of the folder"):
        unpack(archive, folder, lambda name: f"../{name}", MOST)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_a_link_or_device_in_a_tar_is_refused(
    archive: Path, folder: Path, kind: bytes
) -> None:
    with tarfile.open(archive, "w:gz") as made:
        info = tarfile.TarInfo("top/passwd")
        info.type, info.linkname = kind, "/etc/passwd"
        made.addfile(info)
    refused(archive, folder, "the member 'top/passwd' is a link or a device")


def test_a_link_in_a_zip_is_refused(archive: Path, folder: Path) -> None:
    info = zipfile.ZipInfo("top/passwd")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr(info, "/etc/passwd")
    refused(archive, folder, "the member 'top/passwd' is a link or a device")


def test_a_link_that_nobody_wants_does_no_harm(archive: Path, folder: Path) -> None:
    with tarfile.open(archive, "w") as made:
        info = tarfile.TarInfo("top/link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(info)
    assert unpack(archive, folder, lambda name: None, MOST) == {}
    assert contents(folder) == {}


@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_two_members_for_one_file_are_refused(
    archive: Path, folder: Path, make: Make
) -> None:
    archive.write_bytes(make(FILES))
    message = r"'top/b/two\.txt' is to become same, and so is 'top/a/one\.txt'"
    with pytest.raises(DataError, match=message):
        unpack(archive, folder, lambda name: "same", MOST)
    assert not folder.exists()


@pytest.mark.parametrize("form", FORMS)
def test_an_archive_that_swells_is_stopped(
    archive: Path, folder: Path, form: str
) -> None:
    archive.write_bytes(FORMS[form]({"bomb": bytes(50 << 20)}))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, limits[1]))  # for files written
    try:
        refused(archive, folder, "holds more than the 10000 bytes .* member 'bomb'")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_many_small_members_count_together(archive: Path, folder: Path) -> None:
    archive.write_bytes(make_zip({f"{k}.txt": bytes(1000) for k in range(11)}))
    refused(archive, folder, r"more than the 10000 bytes .* the member '10\.txt'")


def test_a_length_that_a_header_hides_is_counted_all_the_same(
    archive: Path, folder: Path
) -> None:
    archive.write_bytes(make_zip({"bomb": bytes(1 << 20)}))
    data, length = archive.read_bytes(), (1 << 20).to_bytes(4, "little")
    assert data.count(length) == 2
    archive.write_bytes(data.replace(length, (5).to_bytes(4, "little")))
    with pytest.raises(DataError):
        unpack(archive, folder, everything, MOST)
    assert not folder.exists()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.8])
def test_a_truncated_archive_is_refused(
    archive: Path, folder: Path, form: str, share: float
) -> None:
    archive.write_bytes(FORMS[form]({**FILES, "top/three.bin": bytes(range(256)) * 8}))
    data = archive.read_bytes().rstrip(b"\0")  # tar ends in kilobytes of zeros
    archive.write_bytes(data[: int(share * len(data))])
    refused(archive, folder, "archive.bin: damaged, or no tar or zip archive")


@pytest.mark.parametrize("form", PACKED)
def test_damage_in_the_middle_is_noticed(
    archive: Path, folder: Path, form: str
) -> None:
    words = " ".join(map(str, np.random.default_rng(0).integers(0, 10**6, 30_000)))
    archive.write_bytes(FORMS[form]({"words.txt": words.encode()}))
    whole = archive.read_bytes()
    for share in np.linspace(0.05, 0.97, 30):  # each place is noticed in another way
        place = int(share * len(whole))
        archive.write_bytes(whole[:place] + bytes(100) + whole[place + 100 :])
        with pytest.raises(DataError, match=r"archive\.bin: damaged"):
            unpack(archive, folder, everything, 10**6)
    assert not folder.exists()


def test_damage_behind_the_last_member_is_noticed(archive: Path, folder: Path) -> None:
    archive.write_bytes(make_tar(FILES, "w"))
    data = bytearray(gzip.compress(archive.read_bytes() + bytes(1 << 20)))
    data[-5] ^= 0x55  # in the checksum of everything
    archive.write_bytes(data)
    refused(archive, folder, r"archive.bin: damaged, .* \(CRC check failed")


def test_a_broken_header_does_not_pass_for_the_end(archive: Path, folder: Path) -> None:
    archive.write_bytes(make_tar(FILES, "w"))
    data = bytearray(archive.read_bytes())
    data[data.index(b"top/b/two.txt")] ^= 0x55
    archive.write_bytes(data)
    refused(archive, folder, "damaged, or no tar or zip archive")


@pytest.mark.parametrize("content", [b"", b"plain text " * 200, b"PK\x03\x04 no zip"])
def test_what_is_no_archive_is_refused(
    archive: Path, folder: Path, content: bytes
) -> None:
    archive.write_bytes(content)
    refused(archive, folder, "archive.bin: damaged, or no tar or zip archive")


def test_a_name_that_no_file_can_have_is_refused(archive: Path, folder: Path) -> None:
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as made:
        info = tarfile.TarInfo("top/one.txt")
        info.pax_headers = {"path": "top/o\0e.txt"}
        made.addfile(info)
    refused(archive, folder, "damaged, .*null byte")


def test_an_encrypted_member_is_refused(archive: Path, folder: Path) -> None:
    archive.write_bytes(make_zip({"secret.txt": b"text"}))
    data = bytearray(archive.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    archive.write_bytes(data)
    refused(archive, folder, r"secret\.txt.* is encrypted")


def test_a_full_disk_is_told_and_leaves_nothing(
    archive: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(member: object, path: Path, most: int) -> int:
        path.parent.mkdir(parents=True)
        path.write_bytes(b"a part")
        raise OSError(errno.ENOSPC, "No space left on device")

    archive.write_bytes(make_tar(FILES))
    monkeypatch.setattr(archives, "_write", full)
    with pytest.raises(DiskFullError, match="no space left on this disk"):
        unpack(archive, folder, everything, MOST)
    assert [path.name for path in folder.parent.iterdir()] == ["archive.bin"]


def test_a_message_calls_the_archive_as_asked(archive: Path, folder: Path) -> None:
    archive.write_bytes(b"")
    with pytest.raises(DataError, match=r"^words\.zip, inner\.tar: damaged"):
        unpack(archive, folder, everything, MOST, name="words.zip, inner.tar")


def test_a_pattern_spans_folders_and_allows_for_none_around() -> None:
    assert matches("a/b/Office10/x.mat", "*/Office10/x.mat")
    assert matches("Office10/x.mat", "*/Office10/x.mat")
    assert not matches("MyOffice10/x.mat", "*/Office10/x.mat")


def test_the_published_photographs_are_unpacked(
    mirror_folder: Path, folder: Path
) -> None:
    archive = mirror_folder / "office-caltech-10-images.tar.gz"
    photograph = "webcam/mug/frame_0001.jpg"
    form = f"*/images/{photograph}"
    taken = unpack(
        archive, folder, lambda n: photograph if matches(n, form) else None, 10**6
    )
    assert list(taken) == [photograph]
    assert (folder / photograph).read_bytes().startswith(b"\xff\xd8")
