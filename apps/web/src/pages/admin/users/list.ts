import type { WebActionData } from '../../../actions.ts';
import { renderInput, renderSelect } from '../../../components/fields.ts';
import { countWords, formatCount, formatDay } from '../../../components/format.ts';
import { renderOutcome } from '../../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { type Html, html } from '../../../html.ts';
import { readQuery } from '../../../http/forms.ts';
import type { Page } from '../../../page.ts';
import { type UserPageContext, unwrap } from '../../../page.ts';
import { readOffset, renderOffsetPager } from '../offset-pager.ts';
import { renderSections } from '../sections.ts';

const PAGE_SIZE = 50;

const ROLES = [
  { value: '', text: 'All' },
  { value: 'USER', text: 'Users' },
  { value: 'ADMIN', text: 'Administrators' },
];
const PLANS = [
  { value: '', text: 'All' },
  { value: 'trial', text: 'Trial' },
  { value: 'pro', text: 'Pro' },
];
const STATES = [
  { value: '', text: 'All' },
  { value: 'active', text: 'Active' },
  { value: 'deactivated', text: 'Deactivated' },
];

const pick = <T extends string>(value: string | undefined, known: readonly T[]): T | undefined =>
  known.find((one) => one === value);

export async function showUsers(context: UserPageContext): Promise<Page> {
  const { actions, session, request } = context;
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
    title: 'Users',
    subtitle: countWords(pagination.total, isFiltered ? 'match' : 'account', isFiltered ? 'matches' : 'accounts'),
    body: html`${renderSections('/admin/users')}
<form class="sentence tools" method="get" action="/admin/users" role="search">
${renderInput({ name: 'search', label: 'Name or e-mail', type: 'search', value: filters.search })}
${renderSelect({ name: 'role', label: 'Role', options: ROLES, value: filters.role })}
${renderSelect({ name: 'plan', label: 'Plan', options: PLANS, value: filters.plan })}
${renderSelect({ name: 'state', label: 'State', options: STATES, value: filters.state })}
<button>Show</button>
</form>
${
  users.length === 0
    ? html`<div class="rows empty"><p>${filters.search ? `No account matches “${filters.search}” with these filters.` : 'No account matches these filters.'}</p><p><a href="/admin/users">Show all users</a></p></div>`
    : html`<div>${renderUsers(users, context)}${renderOffsetPager('/admin/users', filters, pagination)}</div>`
}`,
  };
}

const renderUsers = (
  users: WebActionData<'listAccounts'>['users'],
  { timeZone, now }: Pick<UserPageContext, 'timeZone' | 'now'>,
): Html =>
  renderTable(
    'Users, newest first',
    [
      { head: 'User' },
      { head: 'State' },
      { head: 'Role' },
      { head: 'Plan' },
      { head: 'Tasks', class: 'num' },
      { head: 'Runs', class: 'num' },
      { head: 'Joined', class: 'num' },
    ],
    users.map(({ id, name, email, role, plan, isActive, createdAt, stats }) =>
      renderRow(
        renderRowHead(html`<a href="/admin/users/${id}">${name}</a><span class="sub">${email}</span>`),
        renderCell(isActive ? renderOutcome('ran', 'Active') : renderOutcome('paused', 'Deactivated')),
        renderCell(role === 'ADMIN' ? 'Administrator' : 'User'),
        renderCell(plan === 'pro' ? 'Pro' : 'Trial'),
        renderCell(formatCount(stats.totalTasks), { class: 'num start', label: 'Tasks' }),
        renderCell(formatCount(stats.totalExecutions), { class: 'num', label: 'Runs' }),
        renderCell(formatDay(new Date(createdAt), timeZone, now), { class: 'num start', label: 'Joined' }),
      ),
    ),
  );
