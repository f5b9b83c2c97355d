import type { StoredTask } from '../../../actions.ts';
import type { Form } from '../../../http/forms.ts';

type Source = StoredTask['sources'][number];

/** A source, as it is typed. */
export interface SourceValues {
  kind: 'page' | 'search';
  /** The URL, or the words to search for. */
  address: string;
  name: string;
  select: string;
  secret: string;
}

/** The most sources of a task. */
export const MAX_SOURCES = 5;

export const EMPTY_SOURCE: SourceValues = { kind: 'page', address: '', name: '', select: '', secret: '' };

/** The rows of the form that are not empty. */
export function readSourceValues(form: Form): SourceValues[] {
  const [kinds, names, selects, secrets] = ['sourceKind', 'sourceName', 'sourceSelect', 'sourceSecret'].map((name) =>
    form.list(name).map((text) => text.trim()),
  );
  return form
    .list('sourceAddress')
    .slice(0, 2 * MAX_SOURCES)
    .map((address, at) => ({
      kind: kinds?.[at] === 'search' ? ('search' as const) : ('page' as const),
      address: address.trim(),
      name: names?.[at] ?? '',
      select: selects?.[at] ?? '',
      secret: secrets?.[at] ?? '',
    }))
    .filter(({ address, name, select }) => address !== '' || name !== '' || select !== '');
}

/** The sources of the task. One without a name gets one, and an address without a scheme is https. */
export function toSources(values: readonly SourceValues[]): Source[] {
  const names = new Set(values.map(({ name }) => name));
  return values.map(({ kind, address, name, select, secret }) => {
    const source = { name: name || takeName(kind === 'search' ? 'web' : 'page', names) };
    if (kind === 'search') return { ...source, search: address };
    return {
      ...source,
      url: /^[a-z][a-z0-9+.-]*:\/\//i.test(address) || address === '' ? address : `https://${address}`,
      ...(select !== '' && { select }),
      ...(secret !== '' && { secret }),
    };
  });
}

function takeName(base: string, taken: Set<string>): string {
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}_${number}`;
  taken.add(name);
  return name;
}

export const toSourceValues = (sources: readonly Source[]): SourceValues[] =>
  sources.map(({ name, url, search, select = '', secret = '' }) => ({
    kind: search === undefined ? 'page' : 'search',
    address: url ?? search ?? '',
    name,
    select,
    secret,
  }));
