import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { parse } from 'node-html-parser';
import type { Person } from '../../../api/test/support/people.ts';
import type { ShownPage } from '../support/visitor.ts';

/** The value that a control of the page has. */
export function readValue({ document }: ShownPage, name: string): string | undefined {
  const control = document.querySelector(`main [name="${name}"]`);
  if (control?.tagName === 'TEXTAREA') return control.textContent.replace(/^\n/, '');
  const chosen = control?.querySelector('option[selected]');
  return control?.getAttribute('value') ?? chosen?.getAttribute('value') ?? chosen?.text;
}

/** Reads what is stored, by the API. */
export function createReader(app: FastifyInstance, { headers }: Person) {
  const get = async (url: string) => (await app.inject({ url, headers })).json();
  return {
    get,
    /** The newest task with this in its name. */
    findTask: async (name: string) => {
      const { tasks } = await get(`/api/tasks?search=${encodeURIComponent(name)}&limit=1`);
      return tasks[0];
    },
  };
}

/** A page that no visitor has opened. */
export function readPage(response: LightMyRequestResponse): ShownPage {
  const document = parse(response.body);
  const textOf = (selector: string) => document.querySelector(selector)?.text.replace(/\s+/g, ' ').trim() ?? '';
  const { statusCode: status } = response;
  return { status, url: '/tasks/new', document, heading: textOf('h1'), text: textOf('main'), response };
}
