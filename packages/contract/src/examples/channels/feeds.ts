import type * as feeds from '../../channels/feeds.ts';
import type { ExamplesFor } from '../example.ts';
import { ENDED, success, task } from '../fixtures.ts';

const SECRET = 'Zm9yIHRoZSBleGFtcGxlIG9ubHksIG5vIHNlY3JldA0';
const HOST = 'https://carillon.example.com';
const TASK_PAGE = `${HOST}/tasks/${task.id}`;
const RUN_PAGE = `${HOST}/executions/1207`;

const ATOM = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${TASK_PAGE}</id>
<title>Carillon: ${task.name}</title>
<updated>${ENDED}</updated>
<author><name>Carillon</name></author>
<link rel="alternate" type="text/html" href="${TASK_PAGE}"/>
<entry>
<id>${RUN_PAGE}</id>
<title>${task.name}</title>
<updated>${ENDED}</updated>
<link rel="alternate" type="text/html" href="${RUN_PAGE}"/>
<content type="html">&lt;p&gt;Begin with the smallest thing.&lt;/p&gt;</content>
</entry>
</feed>
`;

const created = { response: { 201: { success, url: `${HOST}/feeds/${SECRET}.atom` } } };
const deleted = { response: { 200: { success, message: 'The address of the feed has ended.' } } };
const NO_FEED = { errors: { 404: 'Feed not found' } };
const params = { id: task.id };

export const feedsExamples: ExamplesFor<typeof feeds> = {
  createTaskFeed: { params, body: {}, ...created, errors: { 404: 'Task not found' } },
  deleteTaskFeed: { params, ...deleted, ...NO_FEED },
  createAccountFeed: { body: {}, ...created },
  deleteAccountFeed: { ...deleted, ...NO_FEED },
  readFeed: { params: { secret: SECRET }, response: { 200: ATOM }, ...NO_FEED },
};
