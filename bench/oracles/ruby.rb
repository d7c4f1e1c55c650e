# frozen_string_literal: true

# The call sites of a Ruby repository that its own tests run, one JSON object a line.
#
#     ruby ruby.rb CHECKOUT COMMAND... > calls.jsonl
#
# COMMAND runs the tests in CHECKOUT. In each of its processes this file is loaded and a TracePoint records the calls:
# line, name, and the method that ran. Ripper says where on the line the name is called. Left out: lines on which a name
# is called twice, operators, and calls that name nothing (`to_s` by interpolation). The methods that the one that ran
# overrides are declarations: they are what the call names where the class of its receiver is not known from the text.
# Where several methods ran, each is one that dynamic dispatch may run. A symbol that names a method (`&:name`) is a
# value.

require "json"
require "set"

ROOT = ENV.fetch("CALLS_ROOT") { File.realpath(ARGV.fetch(0)) } + "/"

# Records the calls of one process, each once, as [path, line, name, callee].
class Recorder
  METHOD = Kernel.instance_method(:method)
  CLASS_NEW = Class.instance_method(:new)

  def initialize
    @calls = Set.new
    @callees = {}
    @classes = {}
    @paths = Hash.new { |known, path| known[path] = relative(path) }
  end

  def start(out)
    owner = Process.pid
    tracer = TracePoint.new(:call, :c_call, :class) { |event| record(event) }
    at_exit do
      tracer.disable
      file = Process.pid == owner ? out : "#{out}.#{Process.pid}"
      File.write(file, @calls.map { |call| JSON.generate(call) << "\n" }.join)
    end
    tracer.enable
  end

  private

  def record(event)
    case event.event
    when :call then called(event)
    when :c_call then called_c(event)
    else @classes[event.self] ||= [@paths[event.path], event.lineno]
    end
  end

  def called(event)
    site = caller_locations(4, 1)&.first
    path = site && @paths[site.absolute_path || site.path]
    return unless path

    name = event.method_id == :initialize && site.label == "new" ? :new : event.callee_id
    key = [event.defined_class.__id__, event.callee_id, name == :new && event.self.class.__id__]
    callee = @callees[key] ||= callee_of(event)
    @calls << [path, site.lineno, name, callee]
  end

  def called_c(event)
    path = @paths[event.path]
    return unless path

    made = event.callee_id == :new && Class === event.self && class_of(event.self)
    @calls << [path, event.lineno, event.callee_id, made || []]
  end

  def callee_of(event)
    here = @paths[event.path]
    return [] unless here

    target = { path: here, line: event.lineno, name: event.method_id }
    is_inherited = event.method_id == :initialize && event.defined_class != event.self.class
    return [nil, target.merge(declaration: true)] if is_inherited

    [target, *overridden(event).map { |each| each.merge(declaration: true) }]
  end

  def overridden(event)
    method, found = METHOD.bind_call(event.self, event.callee_id), []
    while (method = method.super_method)
      path, line = method.source_location
      found << { path: @paths[path], line: line, name: method.original_name } if path && @paths[path]
    end
    found
  rescue NameError, TypeError
    []
  end

  # `Foo.new` where Foo itself has no `initialize`.
  def class_of(made)
    return if made.name.nil? || made.instance_method(:initialize).owner == made

    path, line = @classes[made]
    [{ path: path, line: line, name: made.name.split("::").last }] if path
  rescue NameError
    nil
  end

  def relative(path)
    full = path && (File.realpath(path) rescue nil)
    full.delete_prefix(ROOT) if full&.start_with?(ROOT)
  end
end

if ENV["CALLS_OUT"]
  Recorder.new.start("#{ENV.fetch('CALLS_OUT')}/#{Process.pid}")
  return
end

require "ripper"
require "tmpdir"

# Finds where names are called in a file: [line, name] → columns.
class CallParser < Ripper
  attr_reader :calls, :values, :definitions

  def initialize(source)
    super
    @calls, @values = Hash.new { |all, key| all[key] = [] }, Hash.new { |all, key| all[key] = [] }
    @definitions, @opened = [], []
    parse
  end

  def on_ident(name) = [name, lineno, column]
  def on_const(name) = [name, lineno, column]
  def on_backtick(name) = [name, lineno, column]

  def on_kw(name)
    @calls[[lineno, name]] << column if name == "super"
    @opened << lineno if %w[def class module].include?(name)
    [name, lineno, column]
  end

  def on_vcall(name) = called(name)
  def on_fcall(name) = called(name)
  def on_command(name, _) = called(name)
  def on_call(_, _, name) = called(name)
  def on_command_call(_, _, name, _) = called(name)
  def on_field(_, _, name) = called(name, "=")
  def on_assign(_, _) = nil

  def on_opassign(target, _, _)
    @calls[[target[1], target[0].delete_suffix("=")]] << target[2] if target.is_a?(Array) && target[0].is_a?(String)
    nil
  end

  def on_var_field(_) = nil
  def on_symbol(name) = name.is_a?(Array) && @values[[name[1], name[0]]] << name[2]
  def on_method_add_arg(call, _) = call
  def on_def(name, *) = defined(name[0], name[1])
  def on_defs(_, _, name, *) = defined(name[0], name[1])
  def on_class(name, *) = defined(name.is_a?(Array) ? name[0] : "", nil)
  def on_module(name, *) = defined(name.is_a?(Array) ? name[0] : "", nil)
  def on_sclass(*) = defined("", nil)
  def on_const_ref(name) = name
  def on_const_path_ref(_, name) = name

  # The qualified name of the innermost function at a line, "" outside of all.
  def caller_at(line)
    around = @definitions.select { |first, last, _, _| first <= line && line <= last }
    return "" unless around.any? { |_, _, _, is_function| is_function }

    around.sort_by(&:first).map { |each| each[2] }.reject(&:empty?).join(".")
  end

  private

  def called(name, suffix = "")
    return nil unless name.is_a?(Array) && name[0].is_a?(String)

    @calls[[name[1], name[0] + suffix]] << name[2]
    [name[0] + suffix, name[1], name[2]]
  end

  def defined(name, line)
    opened = @opened.pop
    @definitions << [opened || line, lineno, name, !line.nil?]
    nil
  end
end

# Prints the sites of all recorded calls.
class Sites
  def initialize
    @files = Hash.new { |known, path| known[path] = CallParser.new(File.binread(ROOT + path)) }
  end

  def print(calls)
    calls.group_by { |path, line, name, _| [path, line, name] }.each do |(path, line, name), group|
      next unless File.file?(ROOT + path)

      kind, column = position(path, line, name)
      puts JSON.generate(site(path, line, column, kind, group.map(&:last))) if column
    end
  end

  private

  def position(path, line, name)
    columns = @files[path].calls.fetch([line, name], []).uniq
    return ["call", columns.first] if columns.any?(&:itself) && columns.size == 1
    return nil unless columns.empty?

    columns = @files[path].values.fetch([line, name], []).uniq
    columns.size == 1 ? ["value", columns.first] : nil
  end

  def site(path, line, column, kind, callees)
    ran = callees.map(&:first).compact.uniq
    overridden = callees.flat_map { |callee| callee.drop(1) }.uniq - ran
    mark = { "dispatch" => kind == "value" ? "value" : "method" }
    is_dynamic = kind == "value" || ran.size > 1
    ran = ran.map { |target| target.merge(mark) } if is_dynamic
    { path: path, line: line, column: column, caller: @files[path].caller_at(line),
      kind: is_dynamic ? "dynamic" : "static", targets: ran + overridden }
  end
end

Dir.mktmpdir do |folder|
  options = "-r#{File.realpath(__FILE__)} #{ENV.fetch('RUBYOPT', '')}"
  environment = { "CALLS_ROOT" => ROOT.chomp("/"), "CALLS_OUT" => folder, "RUBYOPT" => options }
  system(environment, *ARGV.drop(1), chdir: ROOT, out: :err) || warn("the tests did not all pass")
  calls = Dir["#{folder}/*"].sort.flat_map { |file| File.foreach(file).map { |line| JSON.parse(line) } }.uniq
  Sites.new.print(calls.sort_by { |call| call[0, 3] })
end
