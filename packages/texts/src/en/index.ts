import { account } from './account.ts';
import { accounts } from './accounts.ts';
import { admin } from './admin.ts';
import { agent } from './agent.ts';
import { alerts } from './alerts.ts';
import { apiMessages } from './api-messages.ts';
import { apps } from './apps.ts';
import { audit } from './audit.ts';
import { channelGuides } from './channel-guides.ts';
import { channels } from './channels.ts';
import { commands } from './commands.ts';
import { coupons } from './coupons.ts';
import { deliveries } from './deliveries.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { errors } from './errors.ts';
import { events } from './events.ts';
import { failures } from './failures.ts';
import { fallback } from './fallback.ts';
import { feeds } from './feeds.ts';
import { files } from './files.ts';
import { formats } from './formats.ts';
import { forms } from './forms.ts';
import { help } from './help.ts';
import { home } from './home.ts';
import { keys } from './keys.ts';
import { lists } from './lists.ts';
import { mails } from './mails.ts';
import { messages } from './messages.ts';
import { navigation } from './navigation.ts';
import { notices } from './notices.ts';
import { notifications } from './notifications.ts';
import { outcomes } from './outcomes.ts';
import { providers } from './providers.ts';
import { runs } from './runs.ts';
import { schedule } from './schedule.ts';
import { secondFactor } from './second-factor.ts';
import { secrets } from './secrets.ts';
import { settings } from './settings.ts';
import { taskFiles } from './task-files.ts';
import { taskForm } from './task-form.ts';
import { taskSettings } from './task-settings.ts';
import { tasks } from './tasks.ts';
import { templates } from './templates.ts';
import { terminal } from './terminal.ts';
import { usage } from './usage.ts';
import { versions } from './versions.ts';
import { webhooks } from './webhooks.ts';

export const en = {
  account,
  accounts,
  admin,
  agent,
  alerts,
  apiMessages,
  apps,
  audit,
  channelGuides,
  channels,
  commands,
  coupons,
  deliveries,
  demo,
  doctor,
  errors,
  events,
  failures,
  fallback,
  feeds,
  files,
  formats,
  forms,
  help,
  home,
  keys,
  lists,
  mails,
  messages,
  navigation,
  notices,
  notifications,
  outcomes,
  providers,
  runs,
  schedule,
  secondFactor,
  secrets,
  settings,
  taskFiles,
  taskForm,
  taskSettings,
  tasks,
  templates,
  terminal,
  usage,
  versions,
  webhooks,
};
