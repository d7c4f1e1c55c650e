-- Commands of dowse; `require("dowse").setup{}` starts the language server.
if vim.g.loaded_dowse then
  return
end
vim.g.loaded_dowse = true

local function command(name, action, options)
  vim.api.nvim_create_user_command(name, function(arguments)
    require("dowse")[action](arguments.args)
  end, options)
end

command("Dowse", "search", { nargs = "+", desc = "Search by names or a question, and pick a hit" })
command("DowseQuickfix", "quickfix", { nargs = "+", desc = "The same, into the quickfix list" })
command("DowseCallers", "callers", { nargs = 0, desc = "What calls the symbol under the cursor" })
command("DowseCallees", "callees", { nargs = 0, desc = "What the symbol under the cursor calls" })
command("DowseSimilar", "similar", { nargs = 0, desc = "Symbols similar to the one around the cursor" })
