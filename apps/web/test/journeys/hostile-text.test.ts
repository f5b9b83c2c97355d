import t from 'tap';
import { openBrowser, openPage, SKIP_WITHOUT_BROWSER } from '../../../api/test/support/browser.ts';
import { fillAccount } from '../support/filled-account.ts';

/** Ends whatever it stands in, and runs if it is markup. */
const SCRIPT = `"'></title></textarea></pre><script>window.ran = 1</script><img src=x onerror="window.ran = 1">`;
const MARKUP = `${SCRIPT}
<svg onload="window.ran = 1"></svg><iframe src="https://evil.example/"></iframe><base href="https://evil.example/">
<style>@import "https://evil.example/";</style><meta http-equiv="refresh" content="0;url=https://evil.example/">
<div hx-get="https://evil.example/" hx-trigger="load"></div><form action="https://evil.example/"><button>Sign in</button></form>

# ${SCRIPT}

[link](javascript:window.ran=1) [data](data:text/html,<script>alert(1)</script>) ![image](https://evil.example/i.png)
<javascript:alert(1)> [reference][r] {{constructor.constructor('alert(1)')()}} \`${SCRIPT}\`

| a | ${SCRIPT} |
| --- | --- |
| ${SCRIPT} | b |

\`\`\`"><script>alert(1)</script>
${SCRIPT}
\`\`\`

[r]: javascript:alert(1)`;
const ADDRESS = `https://hooks.example.com/${SCRIPT}`;

/** What people, models, browsers and receivers write, by table. */
const TEXTS = {
  users: { name: SCRIPT, notification_url: ADDRESS },
  sessions: { user_agent: SCRIPT, address: SCRIPT },
  api_keys: { name: SCRIPT },
  tasks: {
    name: SCRIPT,
    description: SCRIPT,
    prompt: MARKUP,
    ai_model: SCRIPT,
    webhook_url: ADDRESS,
    notification_email: `"${SCRIPT}"@example.com`,
  },
  executions: { model: SCRIPT },
  uploads: { name: SCRIPT, type: SCRIPT },
  endpoints: { url: ADDRESS, description: SCRIPT },
  deliveries: { payload: JSON.stringify({ text: MARKUP }) },
  delivery_attempts: { url: ADDRESS, error: SCRIPT },
  notifications: { title: SCRIPT, message: MARKUP },
  alerts: { title: SCRIPT, message: MARKUP },
  mails: { subject: SCRIPT, recipient: SCRIPT, error: SCRIPT },
  coupons: { code: SCRIPT, created_by_email: SCRIPT },
  audit_log: { actor_email: SCRIPT, address: SCRIPT, details: JSON.stringify({ before: SCRIPT, [SCRIPT]: MARKUP }) },
  usage_records: { model: SCRIPT },
  settings: { default_model: SCRIPT },
};

/** What would be there if a text had become markup. */
const FOREIGN = [
  'script:not([src^="/scripts/"])',
  'iframe, base, meta[http-equiv], main style, [onerror], [onload]',
  'img:not([src^="/"])',
  'form[action*="evil"], [hx-get*="evil"], [src*="evil"], a[href^="javascript"], a[href^="data"]',
].join(',');

t.test('Text of everybody stays text on every page', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const { app, ctx, ada, pages } = await fillAccount(t);
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  for (const [table, columns] of Object.entries(TEXTS)) {
    const set = Object.entries(columns).map(([column, text]) => `${column} = ${quote(text)}`);
    const { count } = await ctx.db.execute(`update ${table} set ${set.join(', ')}`);
    t.ok(count > 0, `${table} has rows`);
  }
  await ctx.db.execute(`update executions set result = ${quote(MARKUP)} || id where status = 'completed'`);
  await ctx.db.execute(`update executions set error = ${quote(SCRIPT)} where status = 'failed'`);
  const rows = await ctx.db.execute(`select max(id) as id from executions where status = 'completed'`);
  const completed = rows[0]?.id;
  const [address, browser] = await Promise.all([app.listen({ port: 0, host: '127.0.0.1' }), openBrowser(t)]);
  const { page, problems } = await openPage(browser);
  await page.context().addCookies([{ name: 'local-session', value: ada.token, url: address }]);
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  for (const path of [...pages, `/executions/${completed}`, `/tasks?search=${encodeURIComponent(SCRIPT)}`]) {
    const answer = await page.goto(address + path, { waitUntil: 'load' });
    t.ok((answer?.status() ?? 500) < 500, `${path} is ${answer?.status()}`);
    t.equal(new URL(page.url()).host, new URL(address).host, `${path} leads nowhere else`);
    t.equal(await page.evaluate('window.ran'), undefined, path);
    t.equal(await page.locator(FOREIGN).count(), 0, path);
    t.same(problems.splice(0), [], path);
  }
});
