import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { askToConfirm, needsConfirmation } from './requests.ts';

const CRUMB = { href: '/admin', text: 'Administration' };

export async function showMaintenance({ actions, session, csrfField }: UserPageContext): Promise<Page> {
  const { maintenanceMode } = unwrap(await actions.getSystemSettings(session, {}));
  if (maintenanceMode) {
    return {
      title: 'End maintenance',
      breadcrumb: CRUMB,
      body: html`<form class="panel gap narrow" method="post">${csrfField}
<p>The service is closed to everybody but administrators. Ending maintenance opens it at once.</p>
<div class="do"><button class="primary" name="maintenance" value="off">End maintenance</button><a class="button quiet" href="/admin">Cancel</a></div>
</form>`,
    };
  }
  return {
    title: 'Begin maintenance',
    breadcrumb: CRUMB,
    body: html`<form class="panel gap narrow" method="post">${csrfField}
<p>Pages and the API answer “under maintenance” to everybody but administrators, at once and in every process.</p>
<p>Planned runs continue, and administrators can sign in and end the maintenance.</p>
<div class="do"><button class="danger" name="maintenance" value="on">Begin maintenance</button><a class="button quiet" href="/admin">Cancel</a></div>
</form>`,
  };
}

export async function setMaintenance(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request } = context;
  const maintenanceMode = readForm(request).text('maintenance') === 'on';
  const result = await actions.changeSystemSettings(session, { maintenanceMode });
  if (needsConfirmation(result)) return askToConfirm(context, '/admin/maintenance');
  unwrap(result);
  return redirect('/admin', maintenanceMode ? 'Maintenance is on.' : 'Maintenance is off.');
}
