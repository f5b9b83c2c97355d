import { type Page, type Redirect, redirect } from '../../answer.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../visit.ts';
import { askToConfirm, needsConfirmation } from './requests.ts';

const CRUMB = { href: '/admin', text: 'Administration' };

export async function showMaintenance({ actions, session, csrfField }: SignedInVisit): Promise<Page> {
  const { maintenanceMode } = unwrap(await actions.getSystemSettings(session, {}));
  if (maintenanceMode) {
    return {
      title: 'End maintenance',
      crumb: CRUMB,
      body: html`<form class="panel gap narrow" method="post">${csrfField}
<p>The service is closed to everybody but administrators. Ending maintenance opens it at once.</p>
<div class="do"><button class="primary" name="maintenance" value="off">End maintenance</button><a class="button quiet" href="/admin">Cancel</a></div>
</form>`,
    };
  }
  return {
    title: 'Begin maintenance',
    crumb: CRUMB,
    body: html`<form class="panel gap narrow" method="post">${csrfField}
<p>Pages and the API answer “under maintenance” to everybody but administrators, at once and in every process.</p>
<p>Planned runs continue, and administrators can sign in and end the maintenance.</p>
<div class="do"><button class="danger" name="maintenance" value="on">Begin maintenance</button><a class="button quiet" href="/admin">Cancel</a></div>
</form>`,
  };
}

export async function setMaintenance(visit: SignedInVisit): Promise<Redirect> {
  const { actions, session, request } = visit;
  const maintenanceMode = readForm(request).text('maintenance') === 'on';
  const result = await actions.changeSystemSettings(session, { maintenanceMode });
  if (needsConfirmation(result)) return askToConfirm(visit, '/admin/maintenance');
  unwrap(result);
  return redirect('/admin', maintenanceMode ? 'Maintenance is on.' : 'Maintenance is off.');
}
