using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

/// <summary>
/// The call sites of a C# repository as Roslyn binds them, one JSON object a line.
///
///     dotnet CSharpCalls.dll CHECKOUT REFERENCES [SYMBOL...] > calls.jsonl
///
/// REFERENCES is a folder of reference assemblies, a SYMBOL one for `#if`. All sources are one compilation: projects of a
/// repository see each other. Sites that Roslyn cannot bind (a package that is not there) are left out, as are calls of
/// delegates, `new()` without a type, operators and attributes. Other names are references, but for namespaces, local
/// functions, and members of tuples and anonymous types.
/// </summary>
internal sealed class CSharpCalls : CSharpSyntaxWalker
{
    private static readonly string[] Left = { "/bin/", "/obj/", "/node_modules/", "/.git/" };

    private readonly string root;
    private readonly SemanticModel model;
    private readonly List<(string Site, ISymbol Called, bool Dispatches)> sites;
    private readonly HashSet<SyntaxToken> calls = new HashSet<SyntaxToken>();
    private readonly List<string> references = new List<string>();

    private CSharpCalls(string root, SemanticModel model, List<(string, ISymbol, bool)> sites)
    {
        this.root = root;
        this.model = model;
        this.sites = sites;
    }

    private static void Main(string[] arguments)
    {
        string root = Path.GetFullPath(arguments[0]).TrimEnd('/');
        var options = new CSharpParseOptions(LanguageVersion.Preview, preprocessorSymbols: arguments.Skip(2));
        var trees = Directory.EnumerateFiles(root, "*.cs", SearchOption.AllDirectories)
            .Where(path => !Left.Any(path.Substring(root.Length).Contains)).OrderBy(path => path, StringComparer.Ordinal)
            .Select(path => CSharpSyntaxTree.ParseText(File.ReadAllText(path), options, path)).ToList();
        var references = Directory.EnumerateFiles(arguments[1], "*.dll").Select(path => MetadataReference.CreateFromFile(path));
        var compilation = CSharpCompilation.Create("all", trees, references,
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true));
        var sites = new List<(string, ISymbol, bool)>();
        foreach (var tree in trees)
        {
            var walker = new CSharpCalls(root, compilation.GetSemanticModel(tree), sites);
            walker.Visit(tree.GetRoot());
            walker.references.ForEach(Console.WriteLine);
        }
        Print(root, sites, FindOverrides(compilation));
    }

    private static void Print(
        string root, List<(string Site, ISymbol Called, bool Dispatches)> sites, Dictionary<ISymbol, List<ISymbol>> overrides)
    {
        using var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false));
        foreach (var (site, called, dispatches) in sites)
        {
            var targets = Locate(root, called).ToList();
            if (dispatches && targets.Count > 0)
            {
                targets.AddRange(Below(called, overrides).SelectMany(each => Locate(root, each))
                    .Select(target => target + ",\"dispatch\":\"method\"").Distinct());
            }
            bool isDynamic = targets.Any(target => target.Contains("\"dispatch\""));
            string list = string.Join(",", targets.Select(target => "{" + target + "}"));
            output.WriteLine($"{{{site},\"kind\":\"{(isDynamic ? "dynamic" : "static")}\",\"targets\":[{list}]}}");
        }
    }

    /// <summary>Return the places of the checkout where a symbol is written: several for a partial class.</summary>
    private static IEnumerable<string> Locate(string root, ISymbol symbol)
    {
        string name = symbol is IMethodSymbol { MethodKind: MethodKind.Constructor }
            ? symbol.ContainingType.Name : symbol.Name.Substring(symbol.Name.LastIndexOf('.') + 1);
        foreach (var at in symbol.Locations.Where(each => each.IsInSource))
        {
            string path = at.SourceTree.FilePath.Substring(root.Length + 1);
            yield return $"\"path\":\"{path}\",\"line\":{at.GetLineSpan().StartLinePosition.Line + 1},\"name\":\"{name}\"";
        }
    }

    /// <summary>Return what overrides each method directly, interfaces included.</summary>
    private static Dictionary<ISymbol, List<ISymbol>> FindOverrides(Compilation compilation)
    {
        var found = new Dictionary<ISymbol, List<ISymbol>>(SymbolEqualityComparer.Default);
        void Add(ISymbol of, ISymbol by)
        {
            if (!found.TryGetValue(of.OriginalDefinition, out var list)) found[of.OriginalDefinition] = list = new List<ISymbol>();
            list.Add(by.OriginalDefinition);
        }

        foreach (var type in TypesIn(compilation.Assembly.GlobalNamespace))
        {
            foreach (var method in type.GetMembers().OfType<IMethodSymbol>().Where(each => each.OverriddenMethod != null))
            {
                Add(method.OverriddenMethod, method);
            }
            foreach (var member in type.AllInterfaces.SelectMany(each => each.GetMembers().OfType<IMethodSymbol>()))
            {
                var by = type.TypeKind == TypeKind.Interface ? null : type.FindImplementationForInterfaceMember(member);
                if (by != null && !SymbolEqualityComparer.Default.Equals(by, member)) Add(member, by);
            }
        }
        return found;
    }

    private static IEnumerable<INamedTypeSymbol> TypesIn(INamespaceOrTypeSymbol outer) => outer.GetMembers()
        .OfType<INamespaceOrTypeSymbol>().SelectMany(each => each is INamedTypeSymbol type ? TypesIn(each).Prepend(type) : TypesIn(each));

    private static IEnumerable<ISymbol> Below(ISymbol method, Dictionary<ISymbol, List<ISymbol>> overrides)
    {
        var found = new HashSet<ISymbol>(SymbolEqualityComparer.Default);
        var waiting = new Stack<ISymbol>(new[] { method });
        while (waiting.Count > 0)
        {
            if (!overrides.TryGetValue(waiting.Pop(), out var list)) continue;
            foreach (var each in list.Where(found.Add)) waiting.Push(each);
        }
        return found;
    }

    public override void VisitInvocationExpression(InvocationExpressionSyntax node)
    {
        var name = NameOf(node.Expression);
        if (name != null)
        {
            bool isBase = node.Expression is MemberAccessExpressionSyntax { Expression: BaseExpressionSyntax _ };
            Add(name.Identifier, model.GetSymbolInfo(node).Symbol, !isBase);
        }
        base.VisitInvocationExpression(node);
    }

    public override void VisitObjectCreationExpression(ObjectCreationExpressionSyntax node)
    {
        var name = NameOf(node.Type);
        if (name != null) Add(name.Identifier, model.GetSymbolInfo(node).Symbol, false);
        base.VisitObjectCreationExpression(node);
    }

    public override void VisitConstructorInitializer(ConstructorInitializerSyntax node)
    {
        Add(node.ThisOrBaseKeyword, model.GetSymbolInfo(node).Symbol, false);
        base.VisitConstructorInitializer(node);
    }

    public override void VisitIdentifierName(IdentifierNameSyntax node) => Refer(node);

    public override void VisitGenericName(GenericNameSyntax node)
    {
        Refer(node);
        base.VisitGenericName(node);
    }

    private void Refer(SimpleNameSyntax name)
    {
        var symbol = model.GetSymbolInfo(name).Symbol;
        var method = symbol as IMethodSymbol;
        if (method != null && method.MethodKind == MethodKind.Constructor) symbol = method.ContainingType;
        if (method?.ReducedFrom != null) symbol = method.ReducedFrom;
        var owner = symbol?.ContainingType;
        if (symbol == null || symbol is INamespaceSymbol || name.IsVar || calls.Contains(name.Identifier)
            || method?.MethodKind == MethodKind.LocalFunction || owner != null && (owner.IsAnonymousType || owner.IsTupleType)) return;
        string definition = symbol switch
        {
            IFieldSymbol field => owner.TypeKind == TypeKind.Enum ? "enumerator" : field.IsConst || field.IsStatic && field.IsReadOnly ? "constant" : "field",
            INamedTypeSymbol type => type.TypeKind.ToString().ToLowerInvariant(),
            IPropertySymbol _ => "property",
            IEventSymbol _ => "field",
            IMethodSymbol _ => "method",
            _ => null, // a variable, a parameter
        };
        var places = definition == null ? Enumerable.Empty<string>() : Locate(root, symbol.OriginalDefinition);
        string targets = string.Join(",", places.Select(target => "{" + target + $",\"kind\":\"{definition}\"}}"));
        references.Add($"{{{PlaceOf(name.Identifier)},\"name\":\"{name.Identifier.ValueText}\",\"reference\":\"{KindOf(name, symbol)}\",\"targets\":[{targets}]}}");
    }

    private static string KindOf(SimpleNameSyntax name, ISymbol symbol)
    {
        SyntaxNode node = name;
        while (node.Parent is NameSyntax || node.Parent is MemberAccessExpressionSyntax member && member.Name == node) node = node.Parent;
        return node.Parent switch
        {
            UsingDirectiveSyntax _ => "import",
            AttributeSyntax _ => "decorator",
            BaseTypeSyntax _ => "base",
            NameEqualsSyntax { Parent: AttributeArgumentSyntax _ } => "keyword",
            AssignmentExpressionSyntax { Parent: InitializerExpressionSyntax _ } set when set.Left == node => "keyword",
            AssignmentExpressionSyntax set when set.Left == node => "write",
            _ => symbol is ITypeSymbol && !(name.Parent is MemberAccessExpressionSyntax) ? "type" : "read",
        };
    }

    private static SimpleNameSyntax NameOf(SyntaxNode node) => node switch
    {
        SimpleNameSyntax name => name,
        MemberAccessExpressionSyntax member => member.Name,
        MemberBindingExpressionSyntax member => member.Name,
        QualifiedNameSyntax qualified => qualified.Right,
        AliasQualifiedNameSyntax qualified => qualified.Name,
        _ => null,
    };

    private void Add(SyntaxToken token, ISymbol called, bool dispatches)
    {
        if (!(called is IMethodSymbol method) || method.MethodKind == MethodKind.DelegateInvoke) return;
        calls.Add(token);
        method = method.ReducedFrom ?? method;
        method = method.PartialImplementationPart ?? method;
        ISymbol declared = method.OriginalDefinition;
        if (declared.IsImplicitlyDeclared) declared = declared.ContainingType;
        sites.Add(($"{PlaceOf(token)},\"caller\":\"{CallerOf(token.Parent)}\"", declared, dispatches));
    }

    private string PlaceOf(SyntaxToken token)
    {
        var start = token.GetLocation().GetLineSpan().StartLinePosition;
        string line = token.SyntaxTree.GetText().Lines[start.Line].ToString();
        int column = Encoding.UTF8.GetByteCount(line.Substring(0, start.Character));
        string path = token.SyntaxTree.FilePath.Substring(root.Length + 1);
        return $"\"path\":\"{path}\",\"line\":{start.Line + 1},\"column\":{column}";
    }

    /// <summary>Return the member around a node, with its classes.</summary>
    private static string CallerOf(SyntaxNode node)
    {
        var names = node.Ancestors().Select(each => each switch
        {
            MethodDeclarationSyntax method => method.Identifier.Text,
            ConstructorDeclarationSyntax constructor => constructor.Identifier.Text,
            PropertyDeclarationSyntax property => property.Identifier.Text,
            BaseTypeDeclarationSyntax type => type.Identifier.Text,
            _ => null,
        });
        return string.Join(".", names.Where(name => name != null).Reverse());
    }
}
