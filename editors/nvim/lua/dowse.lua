-- dowse in Neovim (0.7 or newer): the language server, a picker and quickfix lists. See :help dowse.
local M = {}

local options = {
  cmd = { "dowse", "lsp" },
  -- What marks the root of a repository; without one, the current folder is opened.
  root_markers = { ".git", ".hg", ".dowse.toml" },
  -- docs/EDITORS.md lists them; by default nothing that another server may answer.
  init_options = {},
  max_results = 20,
  on_attach = nil,
}
local clients = {} -- ids by root

local function warn(message)
  vim.notify("dowse: " .. message, vim.log.levels.WARN)
end

local function find_root(path)
  local folder = vim.fn.fnamemodify(path, ":p:h")
  for _, marker in ipairs(options.root_markers) do
    local above = vim.fn.escape(folder, " ;,*?[{") .. ";"
    local found = vim.fn.finddir(marker, above)
    if found == "" then
      found = vim.fn.findfile(marker, above)
    end
    if found ~= "" then
      -- The path of a folder ends in a slash.
      return (vim.fn.fnamemodify(found, ":p"):gsub("/+$", ""):gsub("/[^/]+$", ""))
    end
  end
  return vim.fn.getcwd()
end

local function client_of(root)
  local id = clients[root]
  local client = id and vim.lsp.get_client_by_id(id)
  if client then
    return client
  end
  -- `vim.lsp.start` of newer versions does no more for one buffer; this works in all.
  id = vim.lsp.start_client({
    name = "dowse",
    cmd = options.cmd,
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fn.fnamemodify(root, ":t") } },
    -- Neovim 0.11 would offer UTF-8; the functions here count in UTF-16.
    capabilities = vim.tbl_deep_extend("force", vim.lsp.protocol.make_client_capabilities(), {
      general = { positionEncodings = { "utf-16" } },
    }),
    init_options = vim.tbl_isempty(options.init_options) and vim.empty_dict() or options.init_options,
    on_attach = options.on_attach,
    on_exit = function()
      clients[root] = nil
    end,
  })
  clients[root] = id
  return id and vim.lsp.get_client_by_id(id)
end

--- Attach the language server to a buffer that shows a file.
function M.attach(buffer)
  local path = vim.api.nvim_buf_get_name(buffer)
  if path == "" or vim.bo[buffer].buftype ~= "" or path:match("^%a[%w+.-]*://") then
    return
  end
  local client = client_of(find_root(path))
  if client then
    vim.lsp.buf_attach_client(buffer, client.id)
  end
end

--- Start the language server for every file that is opened from now on, and for those that are open.
function M.setup(given)
  options = vim.tbl_deep_extend("force", options, given or {})
  local group = vim.api.nvim_create_augroup("dowse", { clear = true })
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    group = group,
    callback = function(event)
      M.attach(event.buf)
    end,
  })
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      M.attach(buffer)
    end
  end
end

-- Send a request for the current buffer; `callback` gets a result that is not nil.
local function request(method, params, callback)
  local path = vim.api.nvim_buf_get_name(0)
  local client = client_of(find_root(path ~= "" and path or vim.fn.getcwd() .. "/"))
  if not client then
    return warn("the language server does not start; is `" .. options.cmd[1] .. "` installed?")
  end
  local function handle(problem, result)
    if problem then
      warn(problem.message)
    elseif result ~= nil then
      callback(result, client)
    end
  end
  local function send()
    if vim.fn.has("nvim-0.11") == 1 then
      client:request(method, params, handle)
    else
      client.request(method, params, handle)
    end
  end
  -- A server that was just started takes no requests before it is initialized.
  local tries = 0
  local function send_when_ready()
    tries = tries + 1
    if client.initialized then
      send()
    elseif tries > 500 then
      warn("the language server does not answer")
    else
      vim.defer_fn(send_when_ready, 20)
    end
  end
  send_when_ready()
end

local function position()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local line = vim.api.nvim_get_current_line()
  -- The second result is in UTF-16, in which the server counts.
  local _, character = vim.str_utfindex(line, math.min(cursor[2], #line))
  return {
    textDocument = { uri = vim.uri_from_bufnr(0) },
    position = { line = cursor[1] - 1, character = character },
  }
end

local function open(item)
  vim.cmd("edit " .. vim.fn.fnameescape(item.filename))
  pcall(vim.api.nvim_win_set_cursor, 0, { item.lnum, item.col - 1 })
  vim.cmd("normal! zv")
end

-- Byte columns of a range in a file; the file may not be loaded.
local function column(uri, place)
  local buffer = vim.uri_to_bufnr(uri)
  local line = vim.api.nvim_buf_is_loaded(buffer)
      and vim.api.nvim_buf_get_lines(buffer, place.line, place.line + 1, false)[1]
  if not line then
    return place.character + 1
  end
  local ok, byte = pcall(vim.str_byteindex, line, place.character, true)
  return (ok and byte or 0) + 1
end

local function hit_item(hit)
  local place = type(hit.range) == "table" and hit.range.start or { line = hit.start_line - 1, character = 0 }
  local confidence = ""
  if type(hit.confidence) == "number" then
    confidence = hit.confidence < 0.01 and " [<1%]" or string.format(" [%.0f%%]", hit.confidence * 100)
  end
  local name = hit.qualified_name ~= "" and hit.qualified_name or hit.path
  return {
    filename = vim.uri_to_fname(hit.uri),
    lnum = place.line + 1,
    col = column(hit.uri, place),
    text = hit.kind .. " " .. name .. confidence,
    label = string.format("%s %s%s  %s:%d", hit.kind, name, confidence, hit.path, place.line + 1),
  }
end

local function call_item(call)
  local symbol = call.from or call.to
  local place = (call.from and call.fromRanges[1] or symbol.selectionRange).start
  return {
    filename = vim.uri_to_fname(symbol.uri),
    lnum = place.line + 1,
    col = column(symbol.uri, place),
    text = symbol.name .. ": " .. (symbol.detail or ""),
  }
end

local function set_quickfix(title, items)
  if vim.tbl_isempty(items) then
    return warn("nothing found: " .. title)
  end
  vim.fn.setqflist({}, " ", { title = "dowse: " .. title, items = items })
  vim.cmd("botright copen")
end

local function pick(title, hits)
  local items = vim.tbl_map(hit_item, hits)
  if vim.tbl_isempty(items) then
    return warn("nothing found: " .. title)
  end
  vim.ui.select(items, {
    prompt = "dowse: " .. title,
    kind = "dowse",
    format_item = function(item)
      return item.label
    end,
  }, function(item)
    if item then
      open(item)
    end
  end)
end

--- Search, and pick one of the hits.
function M.search(query)
  request("dowse/search", { query = query, k = options.max_results }, function(answer)
    pick(query, answer.hits)
  end)
end

--- Search, and list the hits in the quickfix list, without those that are not likely relevant (0 %).
function M.quickfix(query)
  request("dowse/search", { query = query, k = options.max_results, min_score = 0.01 }, function(answer)
    set_quickfix(query, vim.tbl_map(hit_item, answer.hits))
  end)
end

--- Pick one of the symbols that are similar to the one around the cursor.
function M.similar()
  local uri, line = vim.uri_from_bufnr(0), vim.api.nvim_win_get_cursor(0)[1] - 1
  request("dowse/related", { uri = uri, line = line, k = options.max_results }, function(answer)
    pick("similar to " .. answer.symbol.name, answer.neighbours)
  end)
end

local function calls(method, title)
  request("textDocument/prepareCallHierarchy", position(), function(items)
    local item = items[1]
    request("callHierarchy/" .. method, { item = item }, function(found)
      set_quickfix(title .. " " .. item.name, vim.tbl_map(call_item, found))
    end)
  end)
end

--- List what calls the symbol under the cursor.
function M.callers()
  calls("incomingCalls", "callers of")
end

--- List what the symbol under the cursor calls.
function M.callees()
  calls("outgoingCalls", "callees of")
end

return M
