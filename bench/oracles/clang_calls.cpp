// Prints what clang's AST says of the calls in a compilation, as JSON lines; clang.py joins them over a repository.
//
//   c++ -std=c++17 clang_calls.cpp -o clang_calls $(llvm-config --cxxflags --ldflags) -lclang-cpp -lLLVM  (LLVM 17 or newer)
//   clang_calls -p BUILD_FOLDER --root CHECKOUT SOURCE...
//
// {"define": USR, "path", "line", "name"}: a function or class of the checkout, with "body" where it has one
// {"override": USR, "base": USR}: a method that overrides a virtual one
// {"call": USR, "path", "line", "column", "caller", "virtual"}: a call; USR is "" where the callee is outside the checkout
// {"refer": USR, "path", "line", "column", "name", "reference", "kind"}: another name, in C alone; "" for a local variable too,
// and none for a name that a macro makes of its arguments (`UV_ ## name`, `OP(name)` in an enum): no source declares it
//
// Instantiations of templates are visited, so that a call that depends on a parameter has the callees of them all. Calls that a
// macro's body contains have no position of their own and are left out, as are operators and implicit conversions.

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Index/USRGeneration.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Tooling/CommonOptionsParser.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/JSON.h>

#include <map>
#include <set>
#include <string>

using namespace clang;

static llvm::cl::OptionCategory category("clang_calls");
static llvm::cl::opt<std::string> root("root", llvm::cl::Required, llvm::cl::cat(category));
static std::set<std::string> printed; // headers are in many compilations

static void print(llvm::json::Object object) {
  std::string line;
  llvm::raw_string_ostream(line) << llvm::json::Value(std::move(object));
  if (printed.insert(line).second) llvm::outs() << line << "\n";
}

static std::string usrOf(const Decl *decl) {
  llvm::SmallString<128> usr;
  return index::generateUSRForDecl(decl, usr) ? "" : usr.str().str();
}

// The declaration that was written, behind instantiations and the members of them.
static const FunctionDecl *written(const FunctionDecl *function) {
  if (const FunctionDecl *pattern = function->getTemplateInstantiationPattern()) return pattern;
  if (const FunctionTemplateDecl *primary = function->getPrimaryTemplate()) return primary->getTemplatedDecl();
  if (const FunctionDecl *member = function->getInstantiatedFromMemberFunction()) return member;
  return function;
}

static const CXXRecordDecl *written(const CXXRecordDecl *type) {
  if (const CXXRecordDecl *pattern = type->getTemplateInstantiationPattern()) return pattern;
  return type;
}

// Where characters are in a file of the checkout; false outside.
static bool place(SourceManager &sources, SourceLocation at, std::string &path, unsigned &line, unsigned &column) {
  const FileEntry *file = at.isValid() ? sources.getFileEntryForID(sources.getFileID(at)) : nullptr;
  if (!file || file->tryGetRealPathName().empty()) return false;
  llvm::StringRef real = file->tryGetRealPathName();
  if (!real.consume_front(root) || !real.consume_front("/")) return false;
  path = real.str();
  line = sources.getSpellingLineNumber(at);
  column = sources.getSpellingColumnNumber(at) - 1;
  return true;
}

static void refer(const std::string &usr, const std::string &path, unsigned line, unsigned column, std::string name,
                  const char *reference, const char *kind) {
  print(llvm::json::Object{{"refer", usr}, {"path", path}, {"line", line}, {"column", column},
                           {"name", name}, {"reference", reference}, {"kind", kind}});
}

// Prints the uses of macros that the checkout defines.
class Macros : public PPCallbacks {
public:
  explicit Macros(SourceManager &sources) : sources(sources) {}
  void MacroExpands(const Token &name, const MacroDefinition &macro, SourceRange, const MacroArgs *) override { use(name, macro); }
  void Ifdef(SourceLocation, const Token &name, const MacroDefinition &macro) override { use(name, macro); }
  void Ifndef(SourceLocation, const Token &name, const MacroDefinition &macro) override { use(name, macro); }
  void Defined(const Token &name, const MacroDefinition &macro, SourceRange) override { use(name, macro); }

private:
  SourceManager &sources;

  void use(const Token &token, const MacroDefinition &macro) {
    std::string path, name = token.getIdentifierInfo()->getName().str();
    unsigned line, column;
    const MacroInfo *info = macro.getMacroInfo();
    if (!info || !place(sources, info->getDefinitionLoc(), path, line, column)) return;
    std::string usr = "macro " + path + ":" + std::to_string(line);
    print(llvm::json::Object{{"define", usr}, {"path", path}, {"line", line}, {"name", name}});
    if (token.getLocation().isFileID() && place(sources, token.getLocation(), path, line, column))
      refer(usr, path, line, column, name, "read", "macro");
  }
};

class Visitor : public RecursiveASTVisitor<Visitor> {
public:
  explicit Visitor(ASTContext &context) : sources(context.getSourceManager()), isC(!context.getLangOpts().CPlusPlus) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(Decl *decl) {
    if (!decl) return true;
    bool isContainer = isa<TranslationUnitDecl>(decl);
    if (!isContainer && sources.isInSystemHeader(sources.getExpansionLoc(decl->getLocation()))) return true;
    const FunctionDecl *outer = caller;
    auto *function = dyn_cast<FunctionDecl>(decl);
    auto *method = dyn_cast<CXXMethodDecl>(decl);
    bool isLambda = method && method->getParent()->isLambda();
    if (function && !isLambda) caller = written(function);
    bool proceed = RecursiveASTVisitor::TraverseDecl(decl);
    caller = outer;
    return proceed;
  }

  bool VisitFunctionDecl(FunctionDecl *function) {
    if (auto *method = dyn_cast<CXXMethodDecl>(function)) {
      for (const CXXMethodDecl *base : method->overridden_methods()) {
        print(llvm::json::Object{{"override", usrOf(written(method))}, {"base", usrOf(written(base))}});
      }
    }
    define(written(function));
    return true;
  }

  bool VisitCallExpr(CallExpr *call) {
    const FunctionDecl *callee = call->getDirectCallee();
    if (!callee || isa<CXXOperatorCallExpr>(call) || callee->getBuiltinID()) return true;
    const Expr *named = call->getCallee()->IgnoreParenImpCasts();
    kinds[named] = "call";
    if (auto *member = dyn_cast<MemberExpr>(named)) {
      auto *method = dyn_cast<CXXMethodDecl>(callee);
      add(member->getMemberLoc(), callee, method && method->isVirtual() && !member->hasQualifier());
    } else if (auto *name = dyn_cast<DeclRefExpr>(named)) {
      add(name->getLocation(), callee, false);
    }
    return true;
  }

  bool VisitCXXTemporaryObjectExpr(CXXTemporaryObjectExpr *made) { return construct(made->getTypeSourceInfo(), made); }

  bool VisitCXXFunctionalCastExpr(CXXFunctionalCastExpr *cast) {
    return construct(cast->getTypeInfoAsWritten(), dyn_cast<CXXConstructExpr>(cast->getSubExpr()->IgnoreImplicit()));
  }

  bool VisitCXXNewExpr(CXXNewExpr *made) { return construct(made->getAllocatedTypeSourceInfo(), made->getConstructExpr()); }

  bool VisitBinaryOperator(BinaryOperator *operation) {
    if (operation->isAssignmentOp()) kinds[operation->getLHS()->IgnoreParenImpCasts()] = "write";
    return true;
  }

  bool VisitUnaryOperator(UnaryOperator *operation) {
    if (operation->isIncrementDecrementOp()) kinds[operation->getSubExpr()->IgnoreParenImpCasts()] = "write";
    return true;
  }

  bool VisitMemberExpr(MemberExpr *member) { return addReference(member->getMemberLoc(), member->getMemberDecl(), kinds[member], "field"); }

  bool VisitDesignatedInitExpr(DesignatedInitExpr *literal) {
    for (auto &each : literal->designators())
      if (each.isFieldDesignator()) addReference(each.getFieldLoc(), each.getFieldDecl(), "keyword", "field");
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr *name) {
    const ValueDecl *decl = name->getDecl();
    const char *kind = isa<EnumConstantDecl>(decl) ? "enumerator" : isa<FunctionDecl>(decl) ? "function" : "variable";
    return addReference(name->getLocation(), decl, kinds[name], kind);
  }

  bool VisitTypedefTypeLoc(TypedefTypeLoc type) { return addReference(type.getNameLoc(), type.getTypedefNameDecl(), "type", "type"); }

  bool VisitTagTypeLoc(TagTypeLoc type) {
    const char *kind = type.getDecl()->isEnum() ? "enum" : "struct";
    return type.isDefinition() || addReference(type.getNameLoc(), type.getDecl(), "type", kind);
  }

private:
  SourceManager &sources;
  bool isC;
  std::map<const Expr *, const char *> kinds; // of expressions that are called or written
  const FunctionDecl *caller = nullptr;

  bool addReference(SourceLocation at, const NamedDecl *decl, const char *reference, const char *kind) {
    std::string path, usr;
    unsigned line, column;
    if (!isC || !decl || decl->isImplicit() || decl->getName().empty() || !locate(at, path, line, column)) return true;
    if (reference && reference == std::string("call")) return true;
    auto *tag = dyn_cast<TagDecl>(decl);
    if (tag && tag->getDefinition()) decl = tag->getDefinition(); // a declaration of what is outside is no definition
    bool isInside = decl->getParentFunctionOrMethod() != nullptr;
    if (isInside && !isa<VarDecl>(decl)) return true; // a type inside a function
    if (isMade(decl)) return true;
    if (!isInside || !isa<VarDecl>(decl) || cast<VarDecl>(decl)->isFileVarDecl()) {
      for (const Decl *each : decl->redecls())
        if (each == decl || !tag) usr = define(cast<NamedDecl>(each));
    }
    refer(usr, path, line, column, decl->getName().str(), reference ? reference : "read", kind);
    return true;
  }

  // Whether a macro makes a declaration of its arguments: the name is pasted, or only the name is an argument.
  bool isMade(const NamedDecl *decl) {
    SourceLocation at = decl->getLocation();
    if (sources.isWrittenInScratchSpace(sources.getSpellingLoc(at))) return true;
    bool isWhole = !isa<EnumConstantDecl>(decl) && decl->getBeginLoc().isMacroID() && sources.isMacroArgExpansion(decl->getBeginLoc());
    return at.isMacroID() && sources.isMacroArgExpansion(at) && !isWhole && !isa<FunctionDecl>(decl);
  }

  // Where characters are in a file of the checkout, through the arguments of macros; false if a macro's body has them.
  bool locate(SourceLocation at, std::string &path, unsigned &line, unsigned &column) {
    while (at.isMacroID()) {
      if (!sources.isMacroArgExpansion(at)) return false;
      at = sources.getImmediateSpellingLoc(at);
    }
    return place(sources, at, path, line, column);
  }

  // Prints where something is declared; returns its USR, or "" if that is outside the checkout.
  std::string define(const NamedDecl *decl) {
    std::string path;
    unsigned line, column;
    auto *function = dyn_cast<FunctionDecl>(decl);
    // A function that a macro defines is at the use of the macro, a field in its body.
    SourceLocation at = decl->getLocation();
    SourceLocation made = function ? sources.getExpansionLoc(at) : sources.getSpellingLoc(at);
    if (!locate(at, path, line, column) && !place(sources, made, path, line, column)) return "";
    bool hasBody = function ? function->isThisDeclarationADefinition() : true;
    std::string usr = usrOf(decl);
    llvm::json::Object object{{"define", usr}, {"path", path}, {"line", line}, {"name", nameOf(decl)}};
    if (hasBody) object["body"] = true;
    print(std::move(object));
    return usr;
  }

  static std::string nameOf(const NamedDecl *decl) {
    if (auto *constructor = dyn_cast<CXXConstructorDecl>(decl)) return constructor->getParent()->getNameAsString();
    return decl->getNameAsString();
  }

  bool construct(const TypeSourceInfo *type, const CXXConstructExpr *made) {
    if (!type || !made) return true;
    const CXXConstructorDecl *constructor = made->getConstructor();
    SourceLocation at = nameIn(type->getTypeLoc());
    if (constructor->isImplicit()) {
      addTarget(at, define(written(constructor->getParent())), false);
    } else {
      add(at, constructor, false);
    }
    return true;
  }

  static SourceLocation nameIn(TypeLoc type) {
    if (auto elaborated = type.getAs<ElaboratedTypeLoc>()) type = elaborated.getNamedTypeLoc();
    if (auto generic = type.getAs<TemplateSpecializationTypeLoc>()) return generic.getTemplateNameLoc();
    return type.getBeginLoc();
  }

  void add(SourceLocation at, const FunctionDecl *callee, bool isVirtual) {
    if (callee->getDeclName().getNameKind() == DeclarationName::CXXConversionFunctionName) return;
    // The declaration that the definition of another compilation shares its USR with.
    addTarget(at, define(written(callee)), isVirtual);
  }

  void addTarget(SourceLocation at, const std::string &usr, bool isVirtual) {
    std::string path;
    unsigned line, column;
    if (!locate(at, path, line, column)) return;
    std::string name = caller ? caller->getQualifiedNameAsString() : "";
    print(llvm::json::Object{{"call", usr}, {"path", path}, {"line", line}, {"column", column}, {"caller", name}, {"virtual", isVirtual}});
  }
};

class Consumer : public ASTConsumer {
  void HandleTranslationUnit(ASTContext &context) override { Visitor(context).TraverseDecl(context.getTranslationUnitDecl()); }
};

class Action : public ASTFrontendAction {
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler, llvm::StringRef) override {
    if (!compiler.getLangOpts().CPlusPlus)
      compiler.getPreprocessor().addPPCallbacks(std::make_unique<Macros>(compiler.getSourceManager()));
    return std::make_unique<Consumer>();
  }
};

int main(int count, const char **arguments) {
  auto options = tooling::CommonOptionsParser::create(count, arguments, category);
  if (!options) {
    llvm::errs() << options.takeError();
    return 2;
  }
  tooling::ClangTool tool(options->getCompilations(), options->getSourcePathList());
  tool.run(tooling::newFrontendActionFactory<Action>().get()); // files that do not compile are reported and left out
  return 0;
}
