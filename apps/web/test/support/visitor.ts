import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { type HTMLElement, parse } from 'node-html-parser';
import type { Person } from '../../../api/test/support/people.ts';

/** Of every page: they find the session, count the view and read what the frame shows. */
export const SESSION_STATEMENTS = 3;

export interface ShownPage {
  status: number;
  /** The address that the page has, after redirects. */
  url: string;
  document: HTMLElement;
  /** The text of the `<h1>`. */
  heading: string;
  /** All text of the main part, with single spaces. */
  text: string;
  response: LightMyRequestResponse;
}

type Values = Record<string, string | readonly string[]>;

/** Somebody with a browser without scripts: it keeps cookies, follows redirects and sends forms as they are shown. */
export interface Visitor {
  open(url: string): Promise<ShownPage>;
  /** Opens the link with this text. Throws if the page has none. */
  follow(page: ShownPage, link: string): Promise<ShownPage>;
  /**
   * Sends the form of `page` that has a button with this text, with its hidden and filled-in fields, and with `values`
   * instead of theirs. Throws if there is no such form, or if it has no field for a value.
   */
  submit(page: ShownPage, button: string, values?: Values): Promise<ShownPage>;
  /** The events that a script gets for the same form. */
  stream(page: ShownPage, button: string, values?: Values, signal?: AbortSignal): Promise<StreamedAnswer>;
  cookies: Map<string, string>;
}

export interface StreamedAnswer {
  response: LightMyRequestResponse;
  /** The text that arrived, and its pieces. */
  text: string;
  pieces: number;
  done: { html: string | null; isRefused?: boolean } | undefined;
}

interface SentForm {
  /** The address of the page with the form. */
  page: string;
  type: string;
  body: string | Buffer;
}

const HOST = 'localhost:3000';

/** With the session of `person`, or signed out. `language` is what the browser accepts. */
export function visit(app: FastifyInstance, person?: Pick<Person, 'token'> | null, language?: string): Visitor {
  const cookies = new Map<string, string>(person ? [['local-session', person.token]] : []);

  function request(
    method: 'GET' | 'POST',
    url: string,
    form: SentForm | undefined,
    accept: string,
    signal?: AbortSignal,
  ) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('; ');
    return app.inject({
      ...(signal && { signal }),
      method,
      url,
      headers: {
        host: HOST,
        accept,
        ...(language && { 'accept-language': language }),
        ...(cookie && { cookie }),
        ...(method === 'POST' && {
          origin: `http://${HOST}`,
          'sec-fetch-site': 'same-origin',
          ...(form && { referer: `http://${HOST}${form.page}`, 'content-type': form.type }),
        }),
      },
      ...(form && { payload: form.body }),
    });
  }

  async function send(method: 'GET' | 'POST', url: string, form?: SentForm): Promise<ShownPage> {
    const response = await request(method, url, form, 'text/html,application/xhtml+xml,*/*;q=0.8');
    for (const { name, value, maxAge } of response.cookies) {
      if (maxAge === 0 || value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const { location } = response.headers;
    if (response.statusCode === 303 && typeof location === 'string') return send('GET', location);
    return describePage(url, response);
  }

  return {
    cookies,
    open: (url) => send('GET', url),
    follow: ({ document }, link) => {
      const found = document.querySelectorAll('a[href]').find(({ text }) => text.trim() === link);
      if (!found) throw new Error(`No link says "${link}".`);
      return send('GET', found.getAttribute('href') ?? '');
    },
    submit: async (page, button, values = {}) => {
      const { action, fields, isMultipart } = readForm(page, button, values);
      return send('POST', action || page.url, { page: page.url, ...(await encode(fields, isMultipart)) });
    },
    stream: async (page, button, values = {}, signal = undefined) => {
      const { action, fields, isMultipart } = readForm(page, button, values);
      const form = { page: page.url, ...(await encode(fields, isMultipart)) };
      const response = await request('POST', action || page.url, form, 'text/event-stream', signal);
      const read = (event: string) =>
        [...response.body.matchAll(new RegExp(`^event: ${event}\\ndata: (.*)$`, 'gm'))].map(([, data = '']) =>
          JSON.parse(data),
        );
      const texts = read('content').map(({ text }) => text);
      return { response, text: texts.join(''), pieces: texts.length, done: read('done')[0] };
    },
  };
}

/** As the browser does it for the `enctype` of the form. */
async function encode(fields: URLSearchParams, isMultipart: boolean): Promise<Omit<SentForm, 'page'>> {
  if (!isMultipart) return { type: 'application/x-www-form-urlencoded', body: fields.toString() };
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  const encoded = new Response(form);
  return { type: encoded.headers.get('content-type') ?? '', body: Buffer.from(await encoded.arrayBuffer()) };
}

function describePage(url: string, response: LightMyRequestResponse): ShownPage {
  const document = parse(response.body);
  const textOf = (selector: string) => (document.querySelector(selector)?.text ?? '').replace(/\s+/g, ' ').trim();
  return { status: response.statusCode, url, document, heading: textOf('h1'), text: textOf('main'), response };
}

function readForm({ document }: ShownPage, button: string, values: Values) {
  const forms = document.querySelectorAll('form');
  const isButton = (one: HTMLElement) => one.text.trim() === button;
  const form = forms.find((one) => one.querySelectorAll('button').some(isButton));
  const pressed = form?.querySelectorAll('button').find(isButton);
  if (!form || !pressed) throw new Error(`No form has a button "${button}".`);
  const fields = new URLSearchParams();
  const given = new Set(Object.keys(values));
  for (const control of form.querySelectorAll('input, select, textarea')) {
    const name = control.getAttribute('name');
    if (name === undefined || control.hasAttribute('disabled')) continue;
    const value = values[name];
    if (value !== undefined) {
      if (given.delete(name)) for (const one of [value].flat()) fields.append(name, one);
    } else for (const one of readControl(control)) fields.append(name, one);
  }
  if (given.size > 0) throw new Error(`The form has no field ${[...given].join(', ')}.`);
  const name = pressed.getAttribute('name');
  if (name !== undefined) fields.append(name, pressed.getAttribute('value') ?? '');
  const action = pressed.getAttribute('formaction') ?? form.getAttribute('action') ?? '';
  return { action, fields, isMultipart: form.getAttribute('enctype') === 'multipart/form-data' };
}

function readControl(control: HTMLElement): string[] {
  const tag = control.tagName;
  if (tag === 'TEXTAREA') return [control.textContent.replace(/^\n/, '')];
  if (tag === 'SELECT') {
    const options = control.querySelectorAll('option');
    const chosen = options.filter((option) => option.hasAttribute('selected'));
    return (chosen.length > 0 ? chosen : options.slice(0, 1)).map(
      (option) => option.getAttribute('value') ?? option.text,
    );
  }
  const type = control.getAttribute('type');
  if (type === 'file') return [];
  if ((type === 'checkbox' || type === 'radio') && !control.hasAttribute('checked')) return [];
  return [control.getAttribute('value') ?? (type === 'checkbox' ? 'on' : '')];
}
