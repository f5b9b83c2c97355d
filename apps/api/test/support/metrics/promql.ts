import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

export interface Selector {
  metric: string;
  matchers: { label: string; operator: string; value: string }[];
}

/** What a query of Prometheus asks for. */
export interface Query {
  selectors: Selector[];
  /** The labels that it groups or joins by. */
  groupedBy: string[];
}

/** Reads a query, with Grafana's variables in it or without. Throws at what is no PromQL. */
export function parseQuery(written: string): Query {
  const text = written.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*');
  const of = ({ from, to }: SyntaxNode) => text.slice(from, to);
  const query: Query = { selectors: [], groupedBy: [] };
  parser.parse(text).iterate({
    enter({ type, node }) {
      if (type.isError) throw new Error(`No PromQL at ${node.from}: ${text}`);
      if (type.name === 'VectorSelector') {
        const name = node.getChild('Identifier');
        if (!name) throw new Error(`A selector without a metric: ${of(node)}`);
        query.selectors.push({ metric: of(name), matchers: readMatchers(node, of) });
      }
      if (type.name === 'GroupingLabels') query.groupedBy.push(...node.getChildren('LabelName').map(of));
    },
  });
  if (query.selectors.length === 0) throw new Error(`It asks for nothing: ${text}`);
  return query;
}

function readMatchers(selector: SyntaxNode, of: (node: SyntaxNode) => string): Selector['matchers'] {
  const matchers = selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  return matchers.map((matcher) => {
    const [label = '', operator = '', value = ''] = ['LabelName', 'MatchOp', 'StringLiteral'].map((name) => {
      const part = matcher.getChild(name);
      return part ? of(part) : '';
    });
    return { label, operator, value: value.slice(1, -1) };
  });
}
