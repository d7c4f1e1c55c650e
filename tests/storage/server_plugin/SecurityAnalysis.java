// What Elasticsearch's index of users and API keys is analysed with. The server that tests fetch has the
// security module, but not the module `analysis-common`, which is published nowhere on its own.
package dowse.tests;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.email.UAX29URLEmailTokenizer;
import org.apache.lucene.analysis.miscellaneous.RemoveDuplicatesTokenFilter;
import org.apache.lucene.analysis.pattern.PatternCaptureGroupTokenFilter;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

public final class SecurityAnalysis extends Plugin implements AnalysisPlugin {
    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        return Map.of(
            "unique", (index, environment, name, settings) -> filter(name, RemoveDuplicatesTokenFilter::new),
            "pattern_capture", (index, environment, name, settings) -> {
                List<String> patterns = settings.getAsList("patterns");
                Pattern[] compiled = patterns.stream().map(Pattern::compile).toArray(Pattern[]::new);
                return filter(name, input -> new PatternCaptureGroupTokenFilter(input, true, compiled));
            });
    }

    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        return Map.of(
            "uax_url_email",
            (index, environment, name, settings) -> TokenizerFactory.newFactory(name, UAX29URLEmailTokenizer::new));
    }

    private static TokenFilterFactory filter(String name, Function<TokenStream, TokenStream> create) {
        return new TokenFilterFactory() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public TokenStream create(TokenStream input) {
                return create.apply(input);
            }
        };
    }
}
