import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { askToConfirm, needsConfirmation } from './requests.ts';

export async function showMaintenance({ actions, session, csrfField, texts }: UserPageContext): Promise<Page> {
  const { admin, forms } = texts;
  const breadcrumb = { href: '/admin', text: admin.title };
  const { maintenanceMode } = unwrap(await actions.getSystemSettings(session, {}));
  if (maintenanceMode) {
    return {
      title: admin.endMaintenance,
      breadcrumb,
      body: html`<form class="panel gap narrow" method="post">${csrfField}
<p>${admin.endMaintenanceText}</p>
<div class="do"><button class="primary" name="maintenance" value="off">${admin.endMaintenance}</button><a class="button quiet" href="/admin">${forms.cancel}</a></div>
</form>`,
    };
  }
  return {
    title: admin.startMaintenance,
    breadcrumb,
    body: html`<form class="panel gap narrow" method="post">${csrfField}
<p>${admin.startMaintenanceText}</p>
<p>${admin.startMaintenanceHint}</p>
<div class="do"><button class="danger" name="maintenance" value="on">${admin.startMaintenance}</button><a class="button quiet" href="/admin">${forms.cancel}</a></div>
</form>`,
  };
}

export async function setMaintenance(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request, texts } = context;
  const maintenanceMode = readForm(request).text('maintenance') === 'on';
  const result = await actions.changeSystemSettings(session, { maintenanceMode });
  if (needsConfirmation(result)) return askToConfirm(context, '/admin/maintenance');
  unwrap(result);
  return redirect('/admin', maintenanceMode ? texts.admin.maintenanceStarted : texts.admin.maintenanceEnded);
}
