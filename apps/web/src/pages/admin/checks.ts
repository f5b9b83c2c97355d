import { renderIcon } from '../../components/status-icon.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';

const PATH = '/admin/checks';

/** What the checks find, of all or of the database only. */
export async function showChecks(context: UserPageContext): Promise<Page> {
  const services = readQuery(context.request).only !== 'database';
  const { findings } = unwrap(await context.actions.checkInstallation(context.session, { services }));
  const { admin, doctor } = context.texts;
  const content =
    findings.length === 0
      ? html`<p>${admin.noProblems}</p>`
      : html`<ul class="needs">${findings.map(
          ({ check, level, message, fix }) =>
            html`<li>${renderIcon(level === 'problem' ? 'failed' : 'late')}<div><p><b>${doctor.checks[check]}</b>: ${message}</p>${fix !== undefined && html`<p class="hint">${fix}</p>`}</div></li>`,
        )}</ul>`;
  return {
    title: admin.checks,
    breadcrumb: { href: '/admin', text: admin.title },
    subtitle: admin.checksText,
    body: renderChecks(context, content, services ? admin.checkAgain : admin.checkServices),
  };
}

const renderChecks = ({ texts: { admin } }: UserPageContext, content: Html, link: string, load: Html | false = false) =>
  html`<section id="checks" aria-labelledby="checks-head"${load}><div class="head"><h2 id="checks-head">${admin.findings}</h2><a href="${PATH}">${link}</a></div>${content}</section>`;

/** Those of the database, which a script loads into another page: logging in to the mail server is for those who ask. */
export const renderChecksLater = (context: UserPageContext): Html =>
  renderChecks(
    context,
    html`<p class="muted">${context.texts.admin.checksText}</p>`,
    context.texts.admin.checkNow,
    html` hx-get="${PATH}?only=database" hx-trigger="load" hx-select="#checks" hx-swap="outerHTML"`,
  );
