import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jetbrains.kotlin.cli.common.CLIConfigurationKeys;
import org.jetbrains.kotlin.cli.common.config.ContentRootsKt;
import org.jetbrains.kotlin.cli.common.messages.MessageCollector;
import org.jetbrains.kotlin.cli.jvm.compiler.EnvironmentConfigFiles;
import org.jetbrains.kotlin.cli.jvm.compiler.KotlinCoreEnvironment;
import org.jetbrains.kotlin.cli.jvm.compiler.NoScopeRecordCliBindingTrace;
import org.jetbrains.kotlin.cli.jvm.compiler.TopDownAnalyzerFacadeForJVM;
import org.jetbrains.kotlin.cli.jvm.config.JvmContentRootsKt;
import org.jetbrains.kotlin.com.intellij.openapi.util.Disposer;
import org.jetbrains.kotlin.com.intellij.psi.PsiElement;
import org.jetbrains.kotlin.com.intellij.psi.PsiNameIdentifierOwner;
import org.jetbrains.kotlin.com.intellij.psi.util.PsiTreeUtil;
import org.jetbrains.kotlin.config.CommonConfigurationKeys;
import org.jetbrains.kotlin.config.CompilerConfiguration;
import org.jetbrains.kotlin.config.JVMConfigurationKeys;
import org.jetbrains.kotlin.descriptors.CallableDescriptor;
import org.jetbrains.kotlin.descriptors.CallableMemberDescriptor;
import org.jetbrains.kotlin.descriptors.ConstructorDescriptor;
import org.jetbrains.kotlin.descriptors.DeclarationDescriptor;
import org.jetbrains.kotlin.descriptors.FunctionDescriptor;
import org.jetbrains.kotlin.psi.KtCallElement;
import org.jetbrains.kotlin.psi.KtCallExpression;
import org.jetbrains.kotlin.psi.KtClassOrObject;
import org.jetbrains.kotlin.psi.KtConstructor;
import org.jetbrains.kotlin.psi.KtConstructorDelegationCall;
import org.jetbrains.kotlin.psi.KtExpression;
import org.jetbrains.kotlin.psi.KtFile;
import org.jetbrains.kotlin.psi.KtNamedDeclaration;
import org.jetbrains.kotlin.psi.KtNamedFunction;
import org.jetbrains.kotlin.psi.KtObjectDeclaration;
import org.jetbrains.kotlin.resolve.BindingContext;
import org.jetbrains.kotlin.resolve.DescriptorToSourceUtils;
import org.jetbrains.kotlin.resolve.calls.model.ResolvedCall;
import org.jetbrains.kotlin.resolve.calls.model.VariableAsFunctionResolvedCall;
import org.jetbrains.kotlin.resolve.calls.util.CallUtilKt;

/**
 * The call sites of a Kotlin repository as the front end of kotlinc 1.9 binds them, one JSON object a line.
 *
 * <p>java -cp COMPILER KotlinCalls.java CHECKOUT CLASSPATH > calls.jsonl
 *
 * <p>COMPILER is the class path of kotlin-compiler-embeddable, CLASSPATH that of the repository. All sources for the JVM are one
 * module (Java ones are seen, not searched). Sites that cannot be bound are left out, as are operators, properties and calls of
 * values of function type.
 */
public class KotlinCalls {
  private static final List<String> OTHER_PLATFORMS = List.of("/jsMain/", "/jsTest/", "/nativeMain/", "/nativeTest/", "/wasm", "/buildSrc/");

  private final Path root;
  private final BindingContext bindings;
  private final Map<PsiElement, Set<PsiElement>> overrides = new LinkedHashMap<>();

  KotlinCalls(Path root, BindingContext bindings) {
    this.root = root;
    this.bindings = bindings;
  }

  public static void main(String[] arguments) throws IOException {
    Path root = Path.of(arguments[0]).toRealPath();
    CompilerConfiguration configuration = new CompilerConfiguration();
    configuration.put(CommonConfigurationKeys.MODULE_NAME, "all");
    configuration.put(CLIConfigurationKeys.MESSAGE_COLLECTOR_KEY, MessageCollector.Companion.getNONE());
    configuration.put(JVMConfigurationKeys.JDK_HOME, new File(System.getProperty("java.home")));
    ContentRootsKt.addKotlinSourceRoots(configuration, sources(root, ".kt"));
    JvmContentRootsKt.addJavaSourceRoots(configuration, sources(root, ".java").stream().map(File::new).collect(Collectors.toList()), null);
    String classpath = arguments.length > 1 ? arguments[1] : "";
    JvmContentRootsKt.addJvmClasspathRoots(
        configuration, Stream.of(classpath.split(":")).filter(each -> !each.isEmpty()).map(File::new).collect(Collectors.toList()));
    JvmContentRootsKt.configureJdkClasspathRoots(configuration);
    KotlinCoreEnvironment environment = KotlinCoreEnvironment.createForProduction(
        Disposer.newDisposable(), configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
    List<KtFile> files = environment.getSourceFiles();
    BindingContext bindings = TopDownAnalyzerFacadeForJVM.analyzeFilesWithJavaIntegration(
        environment.getProject(), files, new NoScopeRecordCliBindingTrace(), configuration,
        environment::createPackagePartProvider).getBindingContext();
    KotlinCalls calls = new KotlinCalls(root, bindings);
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    files.forEach(calls::noteOverrides);
    files.forEach(file -> calls.printCalls(file, out));
    out.flush();
  }

  private static List<String> sources(Path root, String suffix) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      return all.map(Path::toString).filter(each -> each.endsWith(suffix) && !each.contains("module-info"))
          .filter(each -> OTHER_PLATFORMS.stream().noneMatch(each::contains)).sorted().collect(Collectors.toList());
    }
  }

  private void noteOverrides(KtFile file) {
    for (KtNamedFunction function : PsiTreeUtil.findChildrenOfType(file, KtNamedFunction.class)) {
      DeclarationDescriptor descriptor = bindings.get(BindingContext.DECLARATION_TO_DESCRIPTOR, function);
      if (descriptor instanceof CallableMemberDescriptor method) {
        noteOverrides(method, function);
      }
    }
  }

  private void noteOverrides(CallableMemberDescriptor method, PsiElement by) {
    for (CallableMemberDescriptor base : method.getOverriddenDescriptors()) {
      PsiElement declared = DescriptorToSourceUtils.getSourceFromDescriptor(base.getOriginal());
      if (declared != null && declared != by) {
        overrides.computeIfAbsent(declared, key -> new LinkedHashSet<>()).add(by);
      }
      noteOverrides(base, by);
    }
  }

  private void printCalls(KtFile file, PrintStream out) {
    for (KtCallElement call : PsiTreeUtil.findChildrenOfAnyType(file, KtCallExpression.class, KtConstructorDelegationCall.class)) {
      KtExpression callee = call.getCalleeExpression();
      ResolvedCall<? extends CallableDescriptor> resolved = CallUtilKt.getResolvedCall(call, bindings);
      boolean isKnown = resolved != null && resolved.getStatus().isSuccess() && !(resolved instanceof VariableAsFunctionResolvedCall);
      if (callee == null || callee.getTextLength() == 0 || !isKnown || !(resolved.getResultingDescriptor() instanceof FunctionDescriptor)) {
        continue;
      }
      List<PsiElement> declared = declarations((FunctionDescriptor) resolved.getResultingDescriptor());
      List<String> targets = declared.stream().map(each -> target(each, "")).collect(Collectors.toCollection(ArrayList::new));
      boolean isSuper = call.getParent().getText().startsWith("super");
      int named = targets.size();
      if (!isSuper) {
        declared.stream().flatMap(each -> overrides.getOrDefault(each, Set.of()).stream()).distinct()
            .filter(each -> !declared.contains(each)).forEach(each -> targets.add(target(each, ",\"dispatch\":\"method\"")));
      }
      out.printf(
          "{%s,\"caller\":\"%s\",\"kind\":\"%s\",\"targets\":[%s]}%n", place(callee, true), caller(call),
          targets.size() > named ? "dynamic" : "static", String.join(",", targets));
    }
  }

  /** Returns where a function is written in the checkout; nowhere if it is from outside. */
  private static List<PsiElement> declarations(FunctionDescriptor called) {
    Collection<? extends CallableMemberDescriptor> written = called.getKind() == CallableMemberDescriptor.Kind.FAKE_OVERRIDE
        ? called.getOriginal().getOverriddenDescriptors() : List.of(called.getOriginal());
    List<PsiElement> found = new ArrayList<>();
    for (CallableMemberDescriptor each : written) {
      if (each.getKind() == CallableMemberDescriptor.Kind.FAKE_OVERRIDE) {
        found.addAll(declarations((FunctionDescriptor) each));
        continue;
      }
      if (each.getKind() == CallableMemberDescriptor.Kind.SYNTHESIZED) {
        continue; // copy() of a data class
      }
      PsiElement element = DescriptorToSourceUtils.getSourceFromDescriptor(each.getOriginal());
      if (element == null && each instanceof ConstructorDescriptor constructor) {
        element = DescriptorToSourceUtils.getSourceFromDescriptor(constructor.getConstructedClass());
      }
      if (element != null) {
        found.add(element);
      }
    }
    return found;
  }

  private String target(PsiElement declared, String more) {
    boolean isConstructor = declared instanceof KtConstructor<?>;
    PsiElement owner = isConstructor ? PsiTreeUtil.getParentOfType(declared, KtClassOrObject.class) : declared;
    String name = owner instanceof PsiNameIdentifierOwner named && named.getName() != null ? named.getName() : "";
    PsiElement at = !isConstructor && owner instanceof PsiNameIdentifierOwner named && named.getNameIdentifier() != null
        ? named.getNameIdentifier() : declared;
    return "{" + place(at, false) + ",\"name\":\"" + name + "\"" + more + "}";
  }

  private String place(PsiElement element, boolean withColumn) {
    String text = element.getContainingFile().getText();
    int at = element.getTextRange().getStartOffset();
    int start = text.lastIndexOf('\n', at - 1) + 1;
    long line = text.substring(0, at).chars().filter(each -> each == '\n').count() + 1;
    int column = text.substring(start, at).getBytes(StandardCharsets.UTF_8).length;
    String path = root.relativize(Path.of(element.getContainingFile().getVirtualFile().getPath())).toString();
    return "\"path\":\"" + path + "\",\"line\":" + line + (withColumn ? ",\"column\":" + column : "");
  }

  /** Returns the function around a call, with its classes. */
  private static String caller(PsiElement call) {
    List<String> names = new ArrayList<>();
    for (PsiElement at = call.getParent(); at != null && !(at instanceof KtFile); at = at.getParent()) {
      boolean isScope = at instanceof KtNamedFunction || at instanceof KtClassOrObject && !(at instanceof KtObjectDeclaration object && object.isObjectLiteral());
      if (isScope && ((KtNamedDeclaration) at).getName() != null) {
        names.add(0, ((KtNamedDeclaration) at).getName());
      }
    }
    return String.join(".", names);
  }
}
