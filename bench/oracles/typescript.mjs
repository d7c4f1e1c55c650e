// Prints the call sites of the TypeScript of a checkout as JSON lines (see bench/graph_oracle.py).
//
// The checker of the `typescript` package says which declaration a call or `new` resolves to. Each tsconfig.json
// of a package whose dependencies are installed makes a program; a file is read in the first one that has it.
// Methods that override what a site names, in classes that extend or implement its type, may run by dynamic
// dispatch. JSX elements are no call sites. Other names are references, but for those whose definition has no name
// of its own in the file: modules, and members of object literals and of types inside others.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const [root, tools] = [fs.realpathSync(process.argv[2]), process.argv[3]];
const ts = createRequire(path.join(path.resolve(tools), "x.js"))("typescript");

function* files(folder, accepts) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory() && !["node_modules", ".git", "dist"].includes(entry.name)) yield* files(full, accepts);
    else if (entry.isFile() && accepts(entry.name)) yield full;
  }
}

// The configurations of a checkout, deepest first: they know their files best. Some only refer to others.
function configurations() {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (d) => console.error(d.messageText) };
  const parse = (file) => ts.getParsedCommandLineOfConfigFile(file, {}, host);
  const paths = [...files(root, (name) => name === "tsconfig.json")];
  paths.sort((a, b) => b.split("/").length - a.split("/").length || a.localeCompare(b));
  const parsed = paths.filter(isInstalled).map(parse).filter(Boolean);
  const references = parsed.flatMap((each) => each.projectReferences ?? []);
  return [...parsed, ...references.map((each) => parse(ts.resolveProjectReferencePath(each))).filter(Boolean)];
}

// Whether the dependencies of the package around a file are installed: without them little can be resolved.
function isInstalled(file) {
  let folder = path.dirname(file);
  while (folder !== root && !fs.existsSync(path.join(folder, "package.json"))) folder = path.dirname(folder);
  const manifest = path.join(folder, "package.json");
  const { dependencies = {}, devDependencies = {} } = fs.existsSync(manifest) ? JSON.parse(fs.readFileSync(manifest)) : {};
  const isNeeded = Object.keys({ ...dependencies, ...devDependencies }).length > 0;
  return !isNeeded || fs.existsSync(path.join(folder, "node_modules"));
}

function relative(file) {
  const inside = path.relative(root, file);
  return inside.startsWith("..") || inside.includes("node_modules/") ? "" : inside;
}

// The position of a node: line from 1, column in bytes.
function position(node) {
  const source = node.getSourceFile();
  const start = node.getStart(source);
  const { line } = source.getLineAndCharacterOfPosition(start);
  const before = source.text.slice(source.getLineStarts()[line], start);
  return { line: line + 1, column: Buffer.byteLength(before) };
}

// The name that a declaration is known by: its own, or that of the variable or property it is the value of.
function nameNode(declaration) {
  if (ts.isConstructorDeclaration(declaration) || ts.isConstructSignatureDeclaration(declaration)) return null;
  if (declaration.name) return ts.isComputedPropertyName(declaration.name) ? null : declaration.name;
  let parent = declaration.parent;
  while (parent && (ts.isParenthesizedExpression(parent) || ts.isAsExpression(parent) || ts.isSatisfiesExpression(parent)))
    parent = parent.parent;
  if (!parent) return null;
  if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) return parent.name;
  if ((ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent) || ts.isPropertySignature(parent)) && parent.name)
    return parent.name;
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken)
    return ts.isPropertyAccessExpression(parent.left) ? parent.left.name : ts.isIdentifier(parent.left) ? parent.left : null;
  return null;
}

// A target, null if it has no name, undefined if it is outside.
function target(declaration, dispatch) {
  const file = relative(declaration.getSourceFile().fileName);
  if (!file) return undefined;
  const isConstructor = ts.isConstructorDeclaration(declaration);
  const name = isConstructor ? declaration.parent.name : nameNode(declaration);
  if (!name) return null;
  return { path: file, line: position(name).line, name: name.text, ...(dispatch ? { dispatch } : {}) };
}

// Of overloads, the one with a body.
function implementation(declaration) {
  const all = declaration.symbol?.declarations ?? [];
  return all.find((d) => d.body && d.kind === declaration.kind) ?? declaration;
}

function caller(node) {
  const names = [];
  for (let at = node.parent; at; at = at.parent) {
    const isNamed = ts.isClassLike(at) || ts.isModuleDeclaration(at) || ts.isFunctionLike(at);
    if (!isNamed) continue;
    if (ts.isConstructorDeclaration(at)) names.unshift("constructor");
    else if (nameNode(at)?.text) names.unshift(nameNode(at).text);
  }
  return names.join(".");
}

function calledName(call) {
  let callee = call.expression;
  while (ts.isParenthesizedExpression(callee) || ts.isNonNullExpression(callee) || ts.isAsExpression(callee))
    callee = callee.expression;
  if (ts.isIdentifier(callee)) return callee;
  return ts.isPropertyAccessExpression(callee) ? callee.name : null;
}

const isWithin = (node, accepts) => ts.findAncestor(node.parent, accepts) !== undefined;

// The kind of a definition; "local" for a variable of a function, "" for what has no name in its file.
function definitionKind(d) {
  if (ts.isParameter(d)) return ts.isParameterPropertyDeclaration(d, d.parent) ? "field" : "local";
  if (ts.isTypeParameterDeclaration(d)) return "local";
  if (ts.isVariableDeclaration(d) && d.initializer && ts.isFunctionLike(d.initializer)) return "function";
  if (ts.isVariableDeclaration(d) || ts.isBindingElement(d))
    return isWithin(d, (n) => ts.isFunctionLike(n) || ts.isCatchClause(n) || ts.isIterationStatement(n, false)) ? "local" : ts.getCombinedNodeFlags(d) & ts.NodeFlags.Const ? "constant" : "variable";
  if (ts.isPropertySignature(d) || ts.isMethodSignature(d)) {
    const isNamed = ts.isInterfaceDeclaration(d.parent) || ts.isTypeAliasDeclaration(d.parent.parent);
    return !isNamed ? "" : ts.isMethodSignature(d) ? "method" : "field";
  }
  if (ts.isTypeAliasDeclaration(d)) return isWithin(d, ts.isFunctionLike) ? "" : "type";
  if (ts.isMethodDeclaration(d)) return ts.isClassLike(d.parent) ? "method" : "";
  const kinds = [["class", ts.isClassLike], ["interface", ts.isInterfaceDeclaration], ["enum", ts.isEnumDeclaration],
    ["enumerator", ts.isEnumMember], ["function", ts.isFunctionDeclaration], ["field", ts.isPropertyDeclaration],
    ["property", ts.isAccessor]];
  return kinds.find(([, accepts]) => accepts(d))?.[0] ?? "";
}

function referenceKind(name) {
  const at = ts.findAncestor(name, (n) => !ts.isIdentifier(n) && !ts.isPropertyAccessExpression(n) && !ts.isQualifiedName(n));
  if (isWithin(name, (n) => ts.isImportDeclaration(n) || ts.isExportDeclaration(n))) return "import";
  if (ts.isExpressionWithTypeArguments(at)) return "base";
  if (ts.isPartOfTypeNode(name) || ts.isTypeReferenceNode(at)) return "type";
  if (ts.isDecorator(at)) return "decorator";
  const isLast = !ts.isPropertyAccessExpression(name.parent) || name.parent.name === name;
  const expression = name.parent.name === name ? name.parent : name;
  return isLast && ts.isBinaryExpression(at) && at.left === expression && ts.isAssignmentOperator(at.operatorToken.kind) ? "write" : "read";
}

class Program {
  constructor(parsed) {
    const quiet = { traceResolution: false, extendedDiagnostics: false }; // they print to standard output
    const options = { ...parsed.options, ...quiet, noEmit: true, incremental: false, composite: false };
    this.program = ts.createProgram(parsed.fileNames, options);
    this.checker = this.program.getTypeChecker();
    this.overrides = this.findOverrides();
  }

  // Maps a member of a class or interface to the members of its subtypes that override it.
  findOverrides() {
    const found = new Map();
    const visit = (node) => {
      if (ts.isClassLike(node) && relative(node.getSourceFile().fileName)) this.addOverrides(node, found);
      ts.forEachChild(node, visit);
    };
    this.program.getSourceFiles().filter((f) => relative(f.fileName)).forEach(visit);
    return found;
  }

  addOverrides(node, found) {
    const members = node.members.filter((m) => (ts.isMethodDeclaration(m) && m.body) || ts.isPropertyDeclaration(m));
    for (const base of this.supertypes(node)) {
      for (const member of members) {
        const name = member.name && ts.isIdentifier(member.name) ? member.name.text : null;
        for (const declaration of (name && base.getProperty(name)?.declarations) || []) {
          if (declaration === member) continue;
          if (!found.has(declaration)) found.set(declaration, new Set());
          found.get(declaration).add(member);
        }
      }
    }
  }

  supertypes(node, seen = new Set()) {
    for (const clause of node.heritageClauses ?? []) {
      for (const reference of clause.types) {
        const type = this.checker.getTypeAtLocation(reference);
        if (seen.has(type)) continue;
        seen.add(type);
        for (const declaration of type.symbol?.declarations ?? [])
          if (ts.isClassLike(declaration) || ts.isInterfaceDeclaration(declaration)) this.supertypes(declaration, seen);
      }
    }
    return seen;
  }

  *sites(source) {
    const calls = [];
    const visit = (node) => {
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) calls.push(node);
      ts.forEachChild(node, visit);
    };
    visit(source);
    for (const call of calls) {
      const name = calledName(call);
      const targets = name && this.targets(call, name);
      if (!targets) continue;
      const kind = targets.some((t) => t.dispatch) ? "dynamic" : "static";
      yield { path: relative(source.fileName), ...position(name), caller: caller(call), kind, targets };
    }
  }

  *references(source) {
    const [names, called] = [[], new Set()];
    const visit = (node) => {
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) called.add(calledName(node));
      if (ts.isMemberName(node) && !called.has(node)) names.push(node);
      if (!ts.isJSDoc(node)) ts.forEachChild(node, visit);
    };
    visit(source);
    for (const name of names) {
      const declared = this.referred(name) ?? [];
      const kinds = declared.map(definitionKind);
      if (!declared.length || declared.some((d) => (d.name ?? d) === name) || kinds.includes("")) continue;
      const inside = declared.map((d, i) => kinds[i] !== "local" && target(d) && { ...target(d), kind: kinds[i] });
      const targets = inside.filter(Boolean);
      yield { path: relative(source.fileName), ...position(name), name: name.text, reference: referenceKind(name), targets };
    }
  }

  // The declarations that a name refers to.
  referred(name) {
    const [parent, checker] = [name.parent, this.checker];
    let symbol = checker.getSymbolAtLocation(name);
    if (ts.isShorthandPropertyAssignment(parent)) symbol = checker.getShorthandAssignmentValueSymbol(parent);
    if (ts.isExportSpecifier(parent) && !parent.parent.parent.moduleSpecifier) symbol = checker.getExportSpecifierLocalTargetSymbol(parent);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
    return (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) && parent.propertyName && parent.name === name ? null : symbol?.declarations;
  }

  // The targets of a call; null if they are unknown.
  targets(call, name) {
    let symbol = this.checker.getSymbolAtLocation(name);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = this.checker.getAliasedSymbol(symbol);
    const signature = this.checker.getResolvedSignature(call)?.declaration;
    const named = (symbol?.declarations ?? []).filter((d) => this.isCallable(d));
    if (!named.length) return this.valueTargets(symbol, signature);
    return this.namedTargets(named, signature, this.literalMember(name));
  }

  // Of functions, methods and classes: themselves, and what overrides them.
  namedTargets(named, signature, member) {
    const meant = signature && named.includes(signature) ? [signature] : named;
    const targets = meant.map((d) => target(implementation(d)));
    if (targets.includes(null)) return null;
    const dispatched = meant.flatMap((d) => [...(this.overrides.get(d) ?? [])]);
    const all = [...targets, ...dispatched.map((d) => target(implementation(d), "method"))].filter(Boolean);
    if (member && target(member)) all.push(target(member, "value"));
    return [...new Map(all.reverse().map((t) => [`${t.path}:${t.line}`, t])).values()].reverse();
  }

  // `run` of `const jobs: Jobs = { run() {} }` in `jobs.run()`: what the call runs, whatever its type declares.
  literalMember(name) {
    const receiver = ts.isPropertyAccessExpression(name.parent) && name.parent.expression;
    let symbol = receiver && ts.isIdentifier(receiver) && this.checker.getSymbolAtLocation(receiver);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = this.checker.getAliasedSymbol(symbol);
    const literal = symbol?.valueDeclaration?.initializer;
    if (!literal || !ts.isObjectLiteralExpression(literal)) return null;
    return literal.properties.find((p) => p.name?.text === name.text && !ts.isShorthandPropertyAssignment(p));
  }

  // Of a variable or parameter: itself, and the function whose signature it has.
  valueTargets(symbol, signature) {
    const isVariable = (d) => ts.isVariableDeclaration(d) && ts.isIdentifier(d.name);
    const variables = (symbol?.declarations ?? []).filter(isVariable).map((d) => target(d, "value"));
    const value = signature && target(implementation(signature), "value");
    const inside = [...variables, value].filter(Boolean);
    return inside.length || (signature && value === undefined) ? inside : null;
  }

  isCallable(d) {
    if (ts.isVariableDeclaration(d) || ts.isPropertyAssignment(d) || ts.isPropertyDeclaration(d)) {
      let value = d.initializer;
      while (value && (ts.isParenthesizedExpression(value) || ts.isAsExpression(value) || ts.isSatisfiesExpression(value)))
        value = value.expression;
      return Boolean(value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value) || ts.isClassExpression(value)));
    }
    return (
      ts.isFunctionDeclaration(d) || ts.isMethodDeclaration(d) || ts.isMethodSignature(d) ||
      ts.isClassDeclaration(d) || ts.isPropertySignature(d) || ts.isFunctionExpression(d)
    );
  }
}

const visited = new Set();
for (const parsed of configurations()) {
  if (!parsed.fileNames.some((file) => relative(file) && !visited.has(file))) continue;
  const program = new Program(parsed);
  for (const file of parsed.fileNames) {
    if (visited.has(file) || !relative(file) || file.endsWith(".d.ts")) continue;
    visited.add(file);
    const source = program.program.getSourceFile(file);
    if (!source) continue;
    for (const each of [...program.sites(source), ...program.references(source)]) process.stdout.write(JSON.stringify(each) + "\n");
  }
}
console.error(`${visited.size} files`);
