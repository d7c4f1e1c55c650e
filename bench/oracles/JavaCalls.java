import com.sun.source.tree.*;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The call sites of a Java repository as javac attributes them, one JSON object a line.
 *
 * <p>java JavaCalls.java CHECKOUT [CLASSPATH] > calls.jsonl
 *
 * <p>A module is a folder with `src`; each is a compilation of its own, the sources of the others are on its source path. Sites
 * that javac cannot attribute (a library that is not on the class path) are left out. So are constants of enums, and calls of a
 * class that several modules declare. Names that are not called are references; method references are among them.
 */
public class JavaCalls {
  private static final Pattern PACKAGE = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)\\s*;");

  /** A declaration in the checkout. */
  record Target(String path, long line, String name) {}

  record Site(String path, long line, int column, String caller, Target target, boolean dispatches) {}

  record Reference(String path, long line, int column, String name, String kind, Target target, String definition) {}

  private final Path root;
  private final String classpath;
  private final Map<String, Set<Path>> roots = new TreeMap<>(); // module to its source roots
  private final Map<String, List<Path>> files = new TreeMap<>(); // module to its sources
  private final Map<String, Set<String>> declaredIn = new HashMap<>(); // file of a class, without its root, to modules
  private final Set<Site> sites = new LinkedHashSet<>();
  private final Set<Reference> references = new LinkedHashSet<>();
  private final Map<Target, Set<Target>> overrides = new HashMap<>(); // of a method
  private int skipped;

  JavaCalls(Path root, String classpath) {
    this.root = root;
    this.classpath = classpath;
  }

  public static void main(String[] arguments) throws IOException {
    JavaCalls calls = new JavaCalls(Path.of(arguments[0]).toRealPath(), arguments.length > 1 ? arguments[1] : "");
    calls.findModules();
    for (String module : calls.files.keySet()) {
      calls.compile(module);
    }
    calls.print(new PrintStream(System.out, false, StandardCharsets.UTF_8));
    System.err.printf("%d sites, %d calls not attributed%n", calls.sites.size(), calls.skipped);
  }

  /** Group the sources by module: a source root is the folder that the package of a file starts in. */
  private void findModules() throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : (Iterable<Path>) all.sorted()::iterator) {
        String name = file.getFileName().toString();
        if (!name.endsWith(".java") || name.equals("module-info.java")) {
          continue;
        }
        Matcher declared = PACKAGE.matcher(Files.readString(file));
        String folders = declared.find() ? declared.group(1).replace('.', '/') : "";
        Path folder = file.getParent();
        if (!folder.endsWith(folders) && !folders.isEmpty()) {
          continue; // a template or a resource
        }
        for (int depth = folders.isEmpty() ? 0 : Path.of(folders).getNameCount(); depth > 0; depth--) {
          folder = folder.getParent();
        }
        String module = (root.relativize(folder) + "/").replaceFirst("(^|/)src/.*", "");
        roots.computeIfAbsent(module, key -> new LinkedHashSet<>()).add(folder);
        files.computeIfAbsent(module, key -> new ArrayList<>()).add(file);
        declaredIn.computeIfAbsent(folder.relativize(file).toString(), key -> new HashSet<>()).add(module);
      }
    }
  }

  private void compile(String module) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> sourcePath = new ArrayList<>();
    roots.get(module).forEach(each -> sourcePath.add(each.toString()));
    roots.forEach((other, folders) -> folders.forEach(each -> {
      if (!other.equals(module)) sourcePath.add(each.toString());
    }));
    List<String> options = List.of(
        "-proc:none", "-XDshould-stop.ifError=FLOW", "-Xmaxerrs", "100000", "-nowarn", "-implicit:none",
        "-classpath", classpath, "-sourcepath", String.join(":", sourcePath));
    StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    Map<String, Integer> errors = new TreeMap<>();
    JavacTask task = (JavacTask) compiler.getTask(
        null, new NoModules(manager), found -> { if (found.getKind().name().equals("ERROR")) errors.merge(found.getCode(), 1, Integer::sum); },
        options, null, manager.getJavaFileObjectsFromPaths(files.get(module)));
    List<CompilationUnitTree> units = new ArrayList<>();
    task.parse().forEach(units::add);
    task.analyze();
    Module compiled = new Module(module, task);
    for (CompilationUnitTree unit : units) {
      compiled.new Scanner(unit).scan(unit, null);
    }
    System.err.printf("%s: %d files, errors %s%n", module, units.size(), errors);
  }

  private void print(PrintStream out) {
    for (Site site : sites) {
      List<String> targets = new ArrayList<>();
      if (site.target != null) {
        targets.add(json(site.target, ""));
      }
      if (site.dispatches) {
        overrides.getOrDefault(site.target, Set.of()).forEach(each -> targets.add(json(each, ",\"dispatch\":\"method\"")));
      }
      out.printf(
          "{\"path\":\"%s\",\"line\":%d,\"column\":%d,\"caller\":\"%s\",\"kind\":\"%s\",\"targets\":[%s]}%n",
          site.path, site.line, site.column, site.caller, targets.size() > 1 ? "dynamic" : "static", String.join(",", targets));
    }
    for (Reference each : references) {
      out.printf(
          "{\"path\":\"%s\",\"line\":%d,\"column\":%d,\"name\":\"%s\",\"reference\":\"%s\",\"targets\":[%s]}%n", each.path, each.line,
          each.column, each.name, each.kind, each.target == null ? "" : json(each.target, ",\"kind\":\"" + each.definition + "\""));
    }
    out.flush();
  }

  private static String json(Target target, String more) {
    return String.format("{\"path\":\"%s\",\"line\":%d,\"name\":\"%s\"%s}", target.path, target.line, target.name, more);
  }

  /** Hides module descriptors: libraries are on the class path, which named modules cannot read. */
  private static class NoModules extends ForwardingJavaFileManager<StandardJavaFileManager> {
    NoModules(StandardJavaFileManager manager) {
      super(manager);
    }

    @Override
    public JavaFileObject getJavaFileForInput(Location location, String name, JavaFileObject.Kind kind) throws IOException {
      boolean descriptor = name.equals("module-info") && kind == JavaFileObject.Kind.SOURCE;
      return descriptor ? null : super.getJavaFileForInput(location, name, kind);
    }
  }

  /** One attributed module. */
  private class Module {
    private final String name;
    private final Trees trees;
    private final Elements elements;
    private final Types types;
    private final SourcePositions positions;

    Module(String name, JavacTask task) {
      this.name = name;
      trees = Trees.instance(task);
      elements = task.getElements();
      types = task.getTypes();
      positions = trees.getSourcePositions();
    }

    /** Returns where something is declared, or null if that is outside the checkout. */
    Target locate(Element element) {
      boolean written = elements.getOrigin(element) == Elements.Origin.EXPLICIT;
      if (!written && element.getKind() != ElementKind.CONSTRUCTOR) {
        return null; // values() and valueOf() of an enum
      }
      Element declared = written ? element : element.getEnclosingElement();
      TreePath path = trees.getPath(declared);
      if (path == null) {
        return null;
      }
      CompilationUnitTree unit = path.getCompilationUnit();
      Tree tree = path.getLeaf();
      String name = nameOf(declared);
      long from = positions.getStartPosition(unit, tree);
      if (tree instanceof MethodTree method) {
        from = Math.max(from, positions.getEndPosition(unit, method.getModifiers()));
        from = method.getReturnType() == null ? from : Math.max(from, positions.getEndPosition(unit, method.getReturnType()));
      } else if (tree instanceof ClassTree type) {
        from = Math.max(from, positions.getEndPosition(unit, type.getModifiers()));
      } else if (tree instanceof VariableTree variable && declared.getKind() == ElementKind.FIELD) {
        from = Math.max(from, positions.getEndPosition(unit, variable.getType()));
      }
      int at = text(unit).indexOf(name, (int) from);
      return new Target(relative(unit), unit.getLineMap().getLineNumber(at < 0 ? from : at), name);
    }

    private String nameOf(Element element) {
      Element named = element.getKind() == ElementKind.CONSTRUCTOR ? element.getEnclosingElement() : element;
      return named.getSimpleName().toString();
    }

    /** Whether another module declares the same class, so that the source path may hold the wrong one. */
    boolean isDoubtful(Target target) {
      for (Map.Entry<String, Set<Path>> each : roots.entrySet()) {
        for (Path folder : each.getValue()) {
          Path file = root.resolve(target.path);
          if (file.startsWith(folder) && !each.getKey().equals(name)) {
            return declaredIn.getOrDefault(folder.relativize(file).toString(), Set.of()).size() > 1;
          }
        }
      }
      return false;
    }

    /** Remember which methods a method overrides. */
    void noteOverrides(ExecutableElement method, TypeElement owner) {
      Set<TypeElement> above = new LinkedHashSet<>();
      supertypes(owner.asType(), above);
      for (TypeElement type : above) {
        for (Element member : type.getEnclosedElements()) {
          if (member instanceof ExecutableElement base && base.getSimpleName().equals(method.getSimpleName())
              && elements.overrides(method, base, owner)) {
            Target target = locate(base);
            if (target != null) overrides.computeIfAbsent(target, key -> new LinkedHashSet<>()).add(locate(method));
          }
        }
      }
    }

    private void supertypes(TypeMirror type, Set<TypeElement> found) {
      for (TypeMirror parent : types.directSupertypes(type)) {
        if (((DeclaredType) parent).asElement() instanceof TypeElement element && found.add(element)) {
          supertypes(parent, found);
        }
      }
    }

    private String relative(CompilationUnitTree unit) {
      return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
    }

    private String text(CompilationUnitTree unit) {
      try {
        return unit.getSourceFile().getCharContent(true).toString();
      } catch (IOException error) {
        throw new IllegalStateException(error);
      }
    }

    /** Collects the calls of one file. */
    private class Scanner extends TreePathScanner<Void, Void> {
      private final CompilationUnitTree unit;
      private final String text;
      private final String path;
      private final Set<Long> called = new HashSet<>();

      Scanner(CompilationUnitTree unit) {
        this.unit = unit;
        text = text(unit);
        path = relative(unit);
      }

      @Override
      public Void visitMethod(MethodTree tree, Void nothing) {
        Element element = trees.getElement(getCurrentPath());
        if (element instanceof ExecutableElement method && method.getKind() == ElementKind.METHOD
            && !method.getModifiers().contains(Modifier.STATIC)) {
          noteOverrides(method, (TypeElement) method.getEnclosingElement());
        }
        return super.visitMethod(tree, nothing);
      }

      @Override
      public Void visitMethodInvocation(MethodInvocationTree tree, Void nothing) {
        ExpressionTree select = tree.getMethodSelect();
        String name = select instanceof MemberSelectTree member
            ? member.getIdentifier().toString() : ((IdentifierTree) select).getName().toString();
        boolean dispatches = !(select instanceof MemberSelectTree member && member.getExpression().toString().endsWith("super"));
        Element called = areKnown(tree.getArguments()) ? trees.getElement(getCurrentPath()) : null;
        add(positions.getEndPosition(unit, select) - name.length(), name, called, dispatches);
        return super.visitMethodInvocation(tree, nothing);
      }

      @Override
      public Void visitNewClass(NewClassTree tree, Void nothing) {
        if (text.startsWith("new", (int) newAt(tree))) {
          Tree type = tree.getIdentifier();
          while (!(type instanceof MemberSelectTree || type instanceof IdentifierTree)) {
            type = type instanceof ParameterizedTypeTree generic ? generic.getType() : ((AnnotatedTypeTree) type).getUnderlyingType();
          }
          String name = type instanceof MemberSelectTree member
              ? member.getIdentifier().toString() : ((IdentifierTree) type).getName().toString();
          Element called = tree.getClassBody() == null ? trees.getElement(getCurrentPath()) : constructedBy(tree);
          called = areKnown(tree.getArguments()) ? called : null;
          add(positions.getEndPosition(unit, type) - name.length(), name, called, false);
        }
        return super.visitNewClass(tree, nothing);
      }

      /** Whether the types of arguments are known; the overload is arbitrary if not. */
      private boolean areKnown(List<? extends ExpressionTree> arguments) {
        return arguments.stream().map(each -> trees.getTypeMirror(new TreePath(getCurrentPath(), each)))
            .noneMatch(type -> type != null && type.getKind() == TypeKind.ERROR);
      }

      /** Returns the position of `new`, which follows the outer instance in `outer.new Inner()`. */
      private long newAt(NewClassTree tree) {
        if (tree.getEnclosingExpression() == null) {
          return positions.getStartPosition(unit, tree);
        }
        int at = (int) positions.getEndPosition(unit, tree.getEnclosingExpression());
        return Math.max(0, text.indexOf("new", at));
      }

      /** Returns the constructor that an anonymous class calls: that of the type it extends, or its interface. */
      private Element constructedBy(NewClassTree tree) {
        TypeElement anonymous = (TypeElement) trees.getElement(new TreePath(getCurrentPath(), tree.getClassBody()));
        if (anonymous == null) {
          return null;
        }
        if (!anonymous.getInterfaces().isEmpty()) {
          return types.asElement(anonymous.getInterfaces().get(0));
        }
        Element[] found = new Element[1];
        new TreeScanner<Void, Void>() {
          @Override
          public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
            if (found[0] == null && call.getMethodSelect().toString().endsWith("super")) {
              found[0] = trees.getElement(TreePath.getPath(unit, call));
            }
            return null;
          }

          @Override
          public Void visitMethod(MethodTree method, Void nothing) {
            return method.getName().contentEquals("<init>") ? super.visitMethod(method, nothing) : null;
          }
        }.scan(tree.getClassBody().getMembers(), null);
        return found[0];
      }

      @Override
      public Void visitIdentifier(IdentifierTree tree, Void nothing) {
        refer(positions.getStartPosition(unit, tree), tree.getName().toString());
        return super.visitIdentifier(tree, nothing);
      }

      @Override
      public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
        refer(positions.getEndPosition(unit, tree) - tree.getIdentifier().length(), tree.getIdentifier().toString());
        return super.visitMemberSelect(tree, nothing);
      }

      @Override
      public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
        refer(positions.getEndPosition(unit, tree) - tree.getName().length(), tree.getName().toString());
        return super.visitMemberReference(tree, nothing);
      }

      /** Add a reference to what the current path means; nothing is said of packages and of members the compiler makes. */
      private void refer(long at, String name) {
        Element element = trees.getElement(getCurrentPath());
        if (at < 0 || !text.startsWith(name, (int) at) || called.contains(at) || element == null || name.matches("this|super|class")
            || element.getKind() == ElementKind.PACKAGE || element.asType().getKind() == TypeKind.ERROR) {
          return;
        }
        boolean isMember = element.getKind().isField() || element instanceof ExecutableElement || element instanceof TypeElement;
        Target target = isMember ? locate(element) : null;
        if (target != null && (isDoubtful(target) || element.getKind() == ElementKind.CONSTRUCTOR)) {
          return;
        }
        boolean isConstant = element.getModifiers().containsAll(Set.of(Modifier.STATIC, Modifier.FINAL));
        String definition = switch (element.getKind()) {
          case FIELD -> isConstant ? "constant" : "field";
          case ENUM_CONSTANT -> "enumerator";
          default -> element.getKind().name().toLowerCase();
        };
        long line = unit.getLineMap().getLineNumber(at);
        int column = text.substring((int) unit.getLineMap().getStartPosition(line), (int) at).getBytes(StandardCharsets.UTF_8).length;
        references.add(new Reference(path, line, column, name, kindOf(element), target, definition));
      }

      private String kindOf(Element element) {
        Tree leaf = getCurrentPath().getLeaf();
        TreePath above = getCurrentPath().getParentPath();
        while (above.getLeaf() instanceof ParameterizedTypeTree generic && generic.getType() == leaf) {
          leaf = generic;
          above = above.getParentPath();
        }
        Tree parent = above.getLeaf();
        boolean isAnnotation = above.getParentPath() != null && above.getParentPath().getLeaf() instanceof AnnotationTree;
        if (parent instanceof AssignmentTree assigned && assigned.getVariable() == leaf) return isAnnotation ? "keyword" : "write";
        if (parent instanceof CompoundAssignmentTree assigned && assigned.getVariable() == leaf) return "write";
        if (parent instanceof AnnotationTree annotation && annotation.getAnnotationType() == leaf) return "decorator";
        if (parent instanceof ClassTree) return "base";
        boolean isImport = parent instanceof ImportTree || above.getParentPath() != null && above.getParentPath().getLeaf() instanceof ImportTree;
        return isImport ? "import" : element instanceof TypeElement && !(parent instanceof MemberSelectTree) ? "type" : "read";
      }

      private void add(long at, String name, Element element, boolean dispatches) {
        called.add(at);
        if (at < 0 || !text.startsWith(name, (int) at)) {
          return; // written by the compiler: super() of a constructor, the arguments of an anonymous class
        }
        boolean known = element != null && (element instanceof ExecutableElement || element instanceof TypeElement)
            && element.asType().getKind() != TypeKind.ERROR;
        Target target = known ? locate(element) : null;
        if (!known || target != null && isDoubtful(target)) {
          skipped++;
          return;
        }
        long line = unit.getLineMap().getLineNumber(at);
        long start = unit.getLineMap().getStartPosition(line);
        int column = text.substring((int) start, (int) at).getBytes(StandardCharsets.UTF_8).length;
        sites.add(new Site(path, line, column, caller(), target, dispatches));
      }

      /** Returns the method around the current path, with its named classes. */
      private String caller() {
        String name = "";
        for (TreePath at = getCurrentPath(); at != null; at = at.getParentPath()) {
          Tree leaf = at.getLeaf();
          String part = "";
          if (leaf instanceof ClassTree type) {
            part = type.getSimpleName().toString();
            name = part.isEmpty() ? "" : name;
          } else if (leaf instanceof MethodTree method) {
            part = method.getName().contentEquals("<init>")
                ? ((ClassTree) at.getParentPath().getLeaf()).getSimpleName().toString() : method.getName().toString();
            name = "";
          }
          name = part.isEmpty() ? name : name.isEmpty() ? part : part + "." + name;
        }
        return name;
      }
    }
  }
}
