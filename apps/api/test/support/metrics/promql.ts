import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

export interface Selector {
  metric: string;
  matchers: { label: string; operator: string; value: string }[];
}

export interface Query {
  selectors: Selector[];
  /** The labels of grouping and joining. */
  groupedBy: string[];
}

/** Parses PromQL with or without Grafana's variables. Throws for invalid PromQL. */
export function parseQuery(expression: string): Query {
  const text = expression.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*');
  const getText = ({ from, to }: SyntaxNode) => text.slice(from, to);
  const query: Query = { selectors: [], groupedBy: [] };
  parser.parse(text).iterate({
    enter({ type, node }) {
      if (type.isError) throw new Error(`Invalid PromQL at ${node.from}: ${text}`);
      if (type.name === 'VectorSelector') {
        const name = node.getChild('Identifier');
        if (!name) throw new Error(`A selector without a metric: ${getText(node)}`);
        query.selectors.push({ metric: getText(name), matchers: readMatchers(node, getText) });
      }
      if (type.name === 'GroupingLabels') query.groupedBy.push(...node.getChildren('LabelName').map(getText));
    },
  });
  if (query.selectors.length === 0) throw new Error(`A query without a selector: ${text}`);
  return query;
}

function readMatchers(selector: SyntaxNode, getText: (node: SyntaxNode) => string): Selector['matchers'] {
  const matchers = selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  return matchers.map((matcher) => {
    const [label = '', operator = '', value = ''] = ['LabelName', 'MatchOp', 'StringLiteral'].map((name) => {
      const part = matcher.getChild(name);
      return part ? getText(part) : '';
    });
    return { label, operator, value: value.slice(1, -1) };
  });
}
