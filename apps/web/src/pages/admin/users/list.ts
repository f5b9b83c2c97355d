import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../../actions.ts';
import { renderInput, renderSelect } from '../../../components/fields.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { type Html, html } from '../../../html.ts';
import { readQuery } from '../../../http/forms.ts';
import type { Page } from '../../../page.ts';
import { type UserPageContext, unwrap } from '../../../page.ts';
import { readOffset, renderOffsetPager } from '../offset-pager.ts';
import { renderSections } from '../sections.ts';
import { renderAccountState, toOptions } from './user-page.ts';

const PAGE_SIZE = 50;

/** The choices of a filter: all, or one of `names`. */
const listOptions = ({ accounts }: Texts, names: Readonly<Record<string, string>>) => [
  { value: '', text: accounts.all },
  ...toOptions(names),
];

const pick = <T extends string>(value: string | undefined, known: readonly T[]): T | undefined =>
  known.find((one) => one === value);

export async function showUsers(context: UserPageContext): Promise<Page> {
  const { actions, session, request, texts } = context;
  const { accounts, forms } = texts;
  const query = readQuery(request);
  const filters = {
    search: query.search?.slice(0, 254) || undefined,
    role: pick(query.role, ['USER', 'ADMIN']),
    plan: pick(query.plan, ['trial', 'pro']),
    state: pick(query.state, ['active', 'deactivated']),
  };
  const { state, ...rest } = filters;
  const { users, pagination } = unwrap(
    await actions.listAccounts(session, {
      ...rest,
      isActive: state && state === 'active',
      limit: PAGE_SIZE,
      offset: readOffset(query),
    }),
  );
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return {
    title: accounts.title,
    subtitle: isFiltered ? accounts.matches(pagination.total) : accounts.accounts(pagination.total),
    body: html`${renderSections(texts, '/admin/users')}
<form class="sentence tools" method="get" action="/admin/users" role="search">
${renderInput({ name: 'search', label: accounts.search, type: 'search', value: filters.search })}
${renderSelect({ name: 'role', label: accounts.role, options: listOptions(texts, accounts.roles), value: filters.role })}
${renderSelect({ name: 'plan', label: accounts.plan, options: listOptions(texts, accounts.plans), value: filters.plan })}
${renderSelect({ name: 'state', label: accounts.state, options: listOptions(texts, accounts.states), value: filters.state })}
<button>${forms.apply}</button>
</form>
${
  users.length === 0
    ? html`<div class="rows empty"><p>${filters.search ? accounts.noMatchFor(filters.search) : accounts.noMatch}</p><p><a href="/admin/users">${accounts.showAll}</a></p></div>`
    : html`<div>${renderUsers(users, context)}${renderOffsetPager(texts, '/admin/users', filters, pagination)}</div>`
}`,
  };
}

function renderUsers(users: WebActionData<'listAccounts'>['users'], context: UserPageContext): Html {
  const { accounts, formats } = context.texts;
  return renderTable(
    accounts.caption,
    [
      { head: accounts.user },
      { head: accounts.state },
      { head: accounts.role },
      { head: accounts.plan },
      { head: accounts.tasks, class: 'num' },
      { head: accounts.runs, class: 'num' },
      { head: accounts.joined, class: 'num' },
    ],
    users.map(({ id, name, email, role, plan, isActive, createdAt, stats }) =>
      renderRow(
        renderRowHead(html`<a href="/admin/users/${id}">${name}</a><span class="sub">${email}</span>`),
        renderCell(renderAccountState(isActive, context.texts)),
        renderCell(accounts.roles[role]),
        renderCell(accounts.plans[plan]),
        renderCell(formats.number(stats.totalTasks), { class: 'num start', label: accounts.tasks }),
        renderCell(formats.number(stats.totalExecutions), { class: 'num', label: accounts.runs }),
        renderCell(formats.day(new Date(createdAt), context), { class: 'num start', label: accounts.joined }),
      ),
    ),
  );
}
