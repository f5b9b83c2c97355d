import { renderIcon } from '../../components/status-icon.ts';
import { type Html, html } from '../../html.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';

const PATH = '/admin/checks';

/** What the checks find. They take a second, so that a page that shows it loads it by a script, or has its link. */
export async function showChecks(context: UserPageContext): Promise<Page> {
  const { findings } = unwrap(await context.actions.checkInstallation(context.session, {}));
  const { admin } = context.texts;
  const content =
    findings.length === 0
      ? html`<p>${admin.noProblems}</p>`
      : html`<ul class="needs" lang="en">${findings.map(
          ({ check, level, message, fix }) =>
            html`<li>${renderIcon(level === 'problem' ? 'failed' : 'late')}<div><p><b>${check}</b>: ${message}</p>${fix !== undefined && html`<p class="hint">${fix}</p>`}</div></li>`,
        )}</ul>`;
  return {
    title: admin.checks,
    breadcrumb: { href: '/admin', text: admin.title },
    subtitle: admin.checksText,
    body: renderChecks(context, content),
  };
}

const renderChecks = ({ texts: { admin } }: UserPageContext, content: Html, load: Html | false = false): Html =>
  html`<section id="checks" aria-labelledby="checks-head"${load}><div class="head"><h2 id="checks-head">${admin.findings}</h2><a href="${PATH}">${admin.checkAgain}</a></div>${content}</section>`;

/** The same in another page. */
export const renderChecksLater = (context: UserPageContext): Html =>
  renderChecks(
    context,
    html`<p class="muted">${context.texts.admin.checksText}</p>`,
    html` hx-get="${PATH}" hx-trigger="load" hx-select="#checks" hx-swap="outerHTML"`,
  );
