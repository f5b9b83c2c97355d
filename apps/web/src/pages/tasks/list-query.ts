import { TASK_SORTS } from '@carillon/contract/actions/web/task-list';
import { TASK_STATUSES } from '@carillon/contract/tasks';
import type { FastifyRequest } from 'fastify';
import { buildAddress } from '../../components/tables.ts';
import { readQuery } from '../../http/forms.ts';

export type TaskSort = (typeof TASK_SORTS)[number];

const FILTERS = ['attention', ...TASK_STATUSES] as const;

/** What the address of the list asks for. */
export interface ListQuery {
  search: string;
  status: (typeof FILTERS)[number] | undefined;
  sort: TaskSort;
  cursor: string | undefined;
  /** Whether all boxes are ticked. */
  choosesAll: boolean;
}

const MAX_SEARCH = 100;
export const DEFAULT_SORT = 'next';

/** Values that the list does not know are left out. */
export function readListQuery(request: FastifyRequest): ListQuery {
  const { search = '', status, sort, cursor, choose } = readQuery(request);
  return {
    search: [...search.replaceAll('\0', '').trim()].slice(0, MAX_SEARCH).join(''),
    status: FILTERS.find((known) => known === status),
    sort: TASK_SORTS.find((known) => known === sort) ?? DEFAULT_SORT,
    cursor: cursor || undefined,
    choosesAll: choose === 'all',
  };
}

/** The query of an address, without what is not set. */
export const toQuery = ({ search, status, sort, cursor }: Partial<ListQuery>) => ({
  search: search || undefined,
  status,
  sort: sort === DEFAULT_SORT ? undefined : sort,
  cursor,
});

export const buildListAddress = (query: Partial<ListQuery>): string => buildAddress('/tasks', toQuery(query));
