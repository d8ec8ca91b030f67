"""Files are written whole, through symlinks, and never in the place of what is no file."""

from __future__ import annotations

import os
import sys

import pytest

from unmask.errors import UnmaskError
from unmask.files import write_whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="symlinks need rights on Windows; there are no FIFOs")


def test_a_symlink_stays_and_what_it_points_to_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    for before in (None, b"old"):
        link.unlink(missing_ok=True)
        if before is not None:
            target.write_bytes(before)
        link.symlink_to("there/target")
        write_whole(link, b"new")
        assert link.is_symlink()
        assert target.read_bytes() == b"new"
        target.unlink()
    assert len(list(tmp_path.rglob("*"))) == 2


def test_what_is_no_regular_file_is_refused_and_stays(tmp_path):
    # A pipe stands for all of them: to try it on a real device would, should this ever break, destroy the device.
    pipe, link, circle = tmp_path / "pipe", tmp_path / "link", tmp_path / "circle"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    circle.symlink_to(circle)
    for path, told in ((pipe, "a device, a pipe or"), (link, "a device, a pipe or"), (circle, "cannot write")):
        with pytest.raises(UnmaskError, match=told) as caught:
            write_whole(path, b"data")
        assert "\n" not in str(caught.value)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert circle.is_symlink()
    assert len(list(tmp_path.iterdir())) == 3


def test_a_name_that_no_file_can_have_is_one_line(tmp_path):
    for name in ("x" * 5000, "a\0b"):
        with pytest.raises(UnmaskError, match="cannot write"):
            write_whole(tmp_path / name, b"data")
