<?php

/**
 * The call sites of a PHP repository that its own tests run, one JSON object a line.
 *
 *     php php.php CHECKOUT COMMAND... > calls.jsonl
 *
 * COMMAND runs the tests in CHECKOUT, with Xdebug tracing every call: file, line, and the function that ran. The tokens of
 * the file say where on the line its name is called. Left out: lines on which a name is called twice, and calls that name
 * nothing (`__get`, autoloading), and methods of test doubles, which no file defines. The methods that the one that ran overrides are declarations: they are what the call
 * names by the declared types. Where several methods ran, each is one that dynamic dispatch may run. A string that names a
 * function (`[$this, 'name']`) is a value.
 */

declare(strict_types=1);

final class Definition
{
    public function __construct(public string $path, public int $line, public string $name)
    {
    }
}

final class ClassBody
{
    /** @var array<string, Definition> */
    public array $methods = [];
    /** @var list<string> names of base classes and interfaces */
    public array $bases = [];
    /** @var list<string> */
    public array $traits = [];
    /** @var array<string, string> names of methods of traits by their aliases */
    public array $aliases = [];

    public function __construct(public Definition $definition)
    {
    }
}

/** What the files of a checkout define, and where they call names. */
final class Sources
{
    /** @var array<string, ClassBody> by lower-case full name */
    public array $classes = [];
    /** @var array<string, Definition> by lower-case full name */
    public array $functions = [];
    /** @var array<string, array<int, array<string, list<int>>>> columns by path, line and lower-case name */
    public array $calls = [];
    /** @var array<string, array<int, string>> full names of classes that are made, by path and line */
    public array $made = [];
    /** @var array<string, array<int, array<string, list<int>>>> those of strings */
    public array $values = [];
    /** @var array<string, list<array{int, int, string}>> first line, last line and name of functions by path */
    public array $spans = [];

    public function __construct(string $root)
    {
        $files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($root, FilesystemIterator::SKIP_DOTS));
        foreach ($files as $file) {
            $path = substr($file->getPathname(), strlen($root) + 1);
            if ($file->getExtension() === 'php' && !str_starts_with($path, 'vendor/') && !str_starts_with($path, '.git/')) {
                (new FileReader($this, $path, file_get_contents($file->getPathname())))->read();
            }
        }
    }

    /** @return list<Definition> the method that ran, then those that it overrides */
    public function methods(string $class, string $method): array
    {
        $found = [];
        $this->search($class, $method, $found, []);
        return array_values($found);
    }

    private function search(string $class, string $method, array &$found, array $seen): void
    {
        $body = $this->classes[strtolower($class)] ?? null;
        if ($body === null || isset($seen[$class])) {
            return;
        }
        $seen[$class] = true;
        if (isset($body->methods[$method])) {
            $definition = $body->methods[$method];
            $found["$definition->path $definition->line"] = $definition;
        }
        foreach ($body->traits as $trait) {
            $this->search($trait, $body->aliases[$method] ?? $method, $found, $seen);
        }
        foreach ($body->bases as $base) {
            $this->search($base, $method, $found, $seen);
        }
    }

    public function callerAt(string $path, int $line): string
    {
        $around = array_filter($this->spans[$path] ?? [], fn ($span) => $span[0] <= $line && $line <= $span[1]);
        usort($around, fn ($a, $b) => $b[0] <=> $a[0]);
        return $around[0][2] ?? '';
    }
}

/** Reads one file token by token. */
final class FileReader
{
    private const NAMES = [T_STRING, T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED, T_NAME_RELATIVE, T_STATIC];
    private const TYPES = [T_CLASS, T_INTERFACE, T_TRAIT, T_ENUM];

    /** @var list<PhpToken> */
    private array $tokens;
    private array $lineStarts = [0];
    private string $namespace = '';
    /** @var array<string, string> */
    private array $imports = [];
    /** @var list<array{string, int, ?ClassBody, int}> name, depth of braces, class, first line */
    private array $open = [];
    private int $depth = 0;

    public function __construct(private Sources $sources, private string $path, string $text)
    {
        $ignored = [T_WHITESPACE, T_COMMENT, T_DOC_COMMENT];
        $this->tokens = array_values(array_filter(PhpToken::tokenize($text), fn ($token) => !$token->is($ignored)));
        for ($at = -1; ($at = strpos($text, "\n", $at + 1)) !== false;) {
            $this->lineStarts[] = $at + 1;
        }
    }

    public function read(): void
    {
        for ($i = 0, $count = count($this->tokens); $i < $count; $i++) {
            $token = $this->tokens[$i];
            $previous = $this->tokens[$i - 1] ?? null;
            if ($token->is(['{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES])) {
                $this->depth++;
            } elseif ($token->is('}')) {
                $this->close(--$this->depth, $token->line);
            } elseif ($token->is(T_NAMESPACE) && $this->at($i + 1)->is(self::NAMES)) {
                $this->namespace = $this->at($i + 1)->text;
            } elseif ($token->is(T_USE) && !$this->at($i + 1)->is('(')) {
                $this->use($i);
            } elseif ($token->is(self::TYPES) && !($previous?->is(T_DOUBLE_COLON))) {
                $this->openClass($i, (bool) $previous?->is(T_NEW));
            } elseif ($token->is(T_FUNCTION)) {
                $this->openFunction($i);
            } elseif ($token->is(self::NAMES)) {
                $this->call($i, $previous);
            } elseif ($token->is(T_CONSTANT_ENCAPSED_STRING)) {
                $parts = preg_split('/::|\\\\/', trim($token->text, '\'"'));
                $this->add($this->sources->values, $token, end($parts), $token->pos + 1);
            }
        }
    }

    private function at(int $index): PhpToken
    {
        return $this->tokens[$index] ?? new PhpToken(T_WHITESPACE, '');
    }

    private function call(int $i, ?PhpToken $previous): void
    {
        $token = $this->tokens[$i];
        $isNew = $previous?->is(T_NEW);
        if (($this->at($i + 1)->is('(') && !$previous?->is([T_FUNCTION, T_FN])) || $isNew) {
            $parts = explode('\\', $token->text);
            $name = end($parts);
            $offset = $token->pos + strlen($token->text) - strlen($name);
            $this->add($this->sources->calls, $token, $isNew ? 'new' : $name, $offset);
            if ($isNew) {
                $this->sources->made[$this->path][$token->line] = strtolower($this->resolve($token->text));
            }
        }
    }

    private function add(array &$places, PhpToken $token, string $name, int $offset): void
    {
        $places[$this->path][$token->line][strtolower($name)][] = $offset - $this->lineStarts[$token->line - 1];
    }

    private function openClass(int $i, bool $isAnonymous): void
    {
        $name = $isAnonymous ? '' : $this->at($i + 1)->text;
        $body = new ClassBody(new Definition($this->path, $this->at($i + 1)->line, $name));
        for ($j = $i + 1; !$this->at($j)->is(['{', ';']) && isset($this->tokens[$j]); $j++) {
            if ($this->at($j)->is(self::NAMES) && $j > $i + 1 && !$this->at($j - 1)->is(':')) {
                $body->bases[] = $this->resolve($this->at($j)->text);
            }
        }
        if ($name !== '') {
            $this->sources->classes[strtolower(ltrim("$this->namespace\\$name", '\\'))] = $body;
        }
        $this->open[] = [$name, $this->depth, $body, $this->tokens[$i]->line];
    }

    private function openFunction(int $i): void
    {
        $at = $this->at($i + 1)->is('&') || $this->at($i + 1)->text === '&' ? $i + 2 : $i + 1;
        $token = $this->at($at);
        if ($token->is('(')) {
            return;
        }
        $definition = new Definition($this->path, $token->line, $token->text);
        $around = end($this->open);
        if ($around && $around[2]) {
            $around[2]->methods[strtolower($token->text)] = $definition;
        } else {
            $this->sources->functions[strtolower(ltrim("$this->namespace\\$token->text", '\\'))] = $definition;
        }
        for ($j = $at; isset($this->tokens[$j]) && !$this->at($j)->is(['{', ';']); $j++);
        if ($this->at($j)->is('{')) {
            $this->open[] = [$token->text, $this->depth, null, $token->line];
        }
    }

    private function close(int $depth, int $line): void
    {
        while ($this->open && end($this->open)[1] >= $depth) {
            $names = array_filter(array_column($this->open, 0));
            [, , $class, $first] = array_pop($this->open);
            if ($class === null) {
                $this->sources->spans[$this->path][] = [$first, $line, implode('.', $names)];
            }
        }
    }

    /** Reads an import, or the traits of a class. */
    private function use(int $i): void
    {
        $class = $this->open ? end($this->open)[2] : null;
        for ($prefix = '', $i++; isset($this->tokens[$i]) && !$this->at($i)->is(';'); $i++) {
            $token = $this->at($i);
            if ($class && $token->is('{')) {
                $this->adaptations($i, $class);
                return;
            }
            if ($this->at($i + 1)->is(T_NS_SEPARATOR)) {
                $prefix = $token->text . '\\';
            } elseif ($class && $token->is(self::NAMES)) {
                $class->traits[] = $this->resolve($token->text);
            } elseif ($token->is(self::NAMES) && !$this->at($i - 1)->is(T_AS)) {
                $parts = explode('\\', $prefix . $token->text);
                $alias = $this->at($i + 1)->is(T_AS) ? $this->at($i + 2)->text : end($parts);
                $this->imports[strtolower($alias)] = ltrim($prefix . $token->text, '\\');
            }
        }
    }

    private function adaptations(int $i, ClassBody $class): void
    {
        for (; isset($this->tokens[$i]) && !$this->at($i)->is('}'); $i++) {
            if ($this->at($i)->is(T_AS) && $this->at($i + 1)->is(T_STRING)) {
                $class->aliases[strtolower($this->at($i + 1)->text)] = strtolower($this->at($i - 1)->text);
            }
        }
    }

    private function resolve(string $name): string
    {
        if (str_starts_with($name, '\\')) {
            return substr($name, 1);
        }
        [$first, $rest] = explode('\\', $name, 2) + [1 => ''];
        $found = $this->imports[strtolower($first)] ?? ltrim("$this->namespace\\$first", '\\');
        return $rest === '' ? $found : "$found\\$rest";
    }
}

/** Joins the recorded calls with the sources. */
final class Sites
{
    /** @var array<string, array<string, list<Definition>>> callees by place and callee */
    private array $callees = [];

    public function __construct(private Sources $sources, private string $root)
    {
    }

    public function read(string $trace): void
    {
        $stream = gzopen($trace, 'r');
        while (($line = gzgets($stream)) !== false) {
            $fields = explode("\t", $line, 11);
            if (($fields[2] ?? '') === '0' && str_starts_with($fields[8], "$this->root/")) {
                $this->add($fields[5], substr($fields[8], strlen($this->root) + 1), (int) $fields[9]);
            }
        }
    }

    private function add(string $function, string $path, int $line): void
    {
        [$class, $name] = preg_split('/->|::/', $function, 2) + [1 => ''];
        if (str_starts_with($class, 'Mock_')) {
            return;
        }
        if ($name === '') {
            $parts = explode('\\', $class);
            $called = end($parts);
            $found = isset($this->sources->functions[strtolower($class)]) ? [$this->sources->functions[strtolower($class)]] : [];
        } else {
            $called = $name;
            $found = $this->sources->methods($class, strtolower($name));
        }
        $called = strtolower($called);
        $columns = $this->sources->calls[$path][$line] ?? [];
        if ($called === '__construct' && !isset($columns[$called])) {
            $called = 'new';
            $class = $this->sources->classes[$this->sources->made[$path][$line] ?? ''] ?? null;
            $found = $class && !isset($class->methods['__construct']) ? [$class->definition, ...$found] : $found;
        }
        $this->callees["$path\t$line\t$called"][strtolower($function)] ??= $found;
    }

    public function print(): void
    {
        foreach ($this->callees as $place => $callees) {
            [$path, $line, $name] = explode("\t", $place);
            $columns = $this->sources->calls[$path][$line][$name] ?? [];
            $isValue = $columns === [];
            $columns = $columns ?: $this->sources->values[$path][$line][$name] ?? [];
            if (count($columns) === 1) {
                echo json_encode($this->site($path, (int) $line, $columns[0], $isValue, $callees), JSON_UNESCAPED_SLASHES), "\n";
            }
        }
    }

    private function site(string $path, int $line, int $column, bool $isValue, array $callees): array
    {
        $ran = $overridden = [];
        foreach (array_filter($callees) as $found) {
            foreach ($found as $rank => $each) {
                $key = "$each->path $each->line";
                $target = ['path' => $each->path, 'line' => $each->line, 'name' => $each->name];
                $rank ? $overridden[$key] = $target + ['declaration' => true] : $ran[$key] = $target;
            }
        }
        $dispatch = $isValue ? 'value' : (count($ran) > 1 ? 'method' : '');
        if ($dispatch) {
            $ran = array_map(fn ($target) => $target + ['dispatch' => $dispatch], $ran);
        }
        return [
            'path' => $path, 'line' => $line, 'column' => $column, 'caller' => $this->sources->callerAt($path, $line),
            'kind' => $dispatch ? 'dynamic' : 'static',
            'targets' => array_values($ran + $overridden),
        ];
    }
}

ini_set('memory_limit', '-1');
$root = realpath($argv[1]);
$folder = sys_get_temp_dir() . '/calls-' . getmypid();
mkdir($folder);
$settings = ['mode=trace', 'start_with_request=yes', 'trace_format=1', "output_dir=$folder", 'use_compression=1',
    'var_display_max_depth=0', 'var_display_max_data=1', 'var_display_max_children=0'];
file_put_contents("$folder/trace.ini", 'xdebug.' . implode("\nxdebug.", $settings));
$environment = ['PHP_INI_SCAN_DIR' => ":$folder"] + getenv();
proc_close(proc_open(array_slice($argv, 2), [1 => STDERR, 2 => STDERR], $pipes, $root, $environment));
$sites = new Sites(new Sources($root), $root);
foreach (glob("$folder/*.xt*") as $trace) {
    $sites->read($trace);
}
$sites->print();
array_map('unlink', glob("$folder/*"));
rmdir($folder);
