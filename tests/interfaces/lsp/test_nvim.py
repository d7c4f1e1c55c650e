"""The plugin in a real Neovim, without a screen: each command against a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dowse import Index
from lsp_clients import PATIENCE, SHOP

from helpers import age, need, write_tree

PLUGIN = Path(__file__).parents[3] / "editors" / "nvim"
SCRIPT = """
local results, picked = {}, nil
local plugin, python, out = vim.env.DOWSE_PLUGIN, vim.env.DOWSE_PYTHON, vim.env.DOWSE_OUT

local function finish()
  vim.fn.writefile({ vim.fn.json_encode(results) }, out)
  vim.cmd("qa!")
end

local function wait(name, holds)
  if not vim.wait(PATIENCE, holds, 10) then
    results.problem = "waited in vain for " .. name
    finish()
  end
end

local function quickfix(command)
  vim.fn.setqflist({})
  vim.cmd(command)
  wait(command, function() return #vim.fn.getqflist() > 0 end)
  local list = vim.fn.getqflist()
  vim.cmd("cclose")
  return vim.tbl_map(function(entry)
    return { vim.fn.fnamemodify(vim.fn.bufname(entry.bufnr), ":t"), entry.lnum, entry.col, entry.text }
  end, list)
end

vim.opt.runtimepath:prepend(plugin)
vim.cmd("runtime plugin/dowse.lua")
local messages = {}
vim.notify = function(message) table.insert(messages, message) end
results.messages = messages
vim.ui.select = function(items, options, choose)
  picked = vim.tbl_map(options.format_item, items)
  choose(items[1])
end
local command = { python, "-m", "dowse.interfaces.cli.main", "lsp", "--encoder", "small" }
require("dowse").setup({ cmd = command, init_options = { hover = true } })
vim.cmd("edit shop/cart.py")

vim.cmd("Dowse what does an item cost")
wait(":Dowse", function() return picked and vim.fn.expand("%:t") ~= "cart.py" end)
results.picked, results.cursor = picked, vim.api.nvim_win_get_cursor(0)
results.opened = vim.fn.expand("%:t")

results.quickfix = quickfix("DowseQuickfix checkout")
results.likely = quickfix("DowseQuickfix what does an item cost")
picked = nil
vim.cmd("Dowse qwxz vvbnk jjplo")
wait(":Dowse", function() return picked end)
results.unlikely = picked
vim.fn.setqflist({})
vim.cmd("DowseQuickfix qwxz vvbnk jjplo")
wait("nothing found", function() return #messages > 0 end)
results.listed, messages[1] = #vim.fn.getqflist(), nil
vim.cmd("edit shop/cart.py")
vim.fn.search("lookup(größe", "w")
results.callers = quickfix("DowseCallers")
vim.fn.cursor(24, 1)
results.callees = quickfix("DowseCallees")

picked = nil
vim.fn.cursor(24, 1)
vim.cmd("DowseSimilar")
wait(":DowseSimilar", function() return picked end)
results.similar = picked

-- What Neovim itself asks the server.
local buffer = vim.fn.bufnr("cart.py")
local symbols = vim.lsp.buf_request_sync(buffer, "workspace/symbol", { query = "checkout" }, PATIENCE)
for _, answer in pairs(symbols or {}) do
  results.symbols = vim.tbl_map(function(symbol) return symbol.name end, answer.result or {})
end
vim.cmd("helptags " .. vim.fn.fnameescape(vim.env.DOWSE_HELP))
finish()
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the script has seen."""
    need("nvim")
    tmp_path = tmp_path_factory.mktemp("nvim")
    root = write_tree(tmp_path / "my shop", {**SHOP, ".git/HEAD": "ref: refs/heads/main\n"})
    age(root)
    with Index.open(root, encoder="small") as index:
        index.update()
    help_folder = tmp_path / "doc"
    help_folder.mkdir()
    (help_folder / "dowse.txt").write_bytes((PLUGIN / "doc" / "dowse.txt").read_bytes())
    script = tmp_path / "script.lua"
    script.write_text(SCRIPT.replace("PATIENCE", str(int(1000 * PATIENCE))))
    places = {
        "DOWSE_PLUGIN": str(PLUGIN),
        "DOWSE_PYTHON": sys.executable,
        "DOWSE_OUT": str(tmp_path / "out.json"),
        "DOWSE_HELP": str(help_folder),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    done = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}"],
        cwd=root,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (tmp_path / "out.json").exists(), done.stderr
    assert (help_folder / "tags").read_text().count(":Dowse") >= 5
    return dict(json.loads((tmp_path / "out.json").read_text()))


def test_the_picker_opens_what_was_picked(results: dict[str, object]) -> None:
    assert "problem" not in results, results
    assert "lookup" in str(results["picked"]) and "shop/prices.py:1" in str(results["picked"])
    assert (results["opened"], results["cursor"]) == ("prices.py", [1, 4])
    assert not results["messages"], results["messages"]


def test_lists_in_the_quickfix_window(results: dict[str, object]) -> None:
    assert results["quickfix"][0][:3] == ["cart.py", 22, 5]
    # In bytes, though the server counts units of UTF-16.
    column = SHOP["shop/cart.py"].split("\n")[18].encode().index(b"lookup") + 1
    assert [each[:3] for each in results["callers"]] == [["cart.py", 19, column], ["cart.py", 24, 27]]
    assert "resolved" in results["callers"][0][3]
    assert sorted(each[3].partition(":")[0] for each in results["callees"]) == ["lookup", "total"]


def test_hits_that_are_not_likely_relevant_are_in_the_picker_alone(results: dict[str, object]) -> None:
    assert "[<1%]" in str(results["unlikely"])
    assert results["likely"] and "[<1%]" not in str(results["likely"])
    assert results["listed"] == 0


def test_similar_symbols_and_neovim_itself(results: dict[str, object]) -> None:
    assert results["similar"] and results["symbols"][0] == "checkout"
