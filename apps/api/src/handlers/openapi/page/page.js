/* global SwaggerUIBundle */

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
applyTheme();
dark.addEventListener('change', applyTheme);

/** Replaces parts of Swagger UI: what repeats is closed until it is asked for. */
function compactPage({ React }) {
  const { createElement: h, useState } = React;

  /** Error responses show their description; a button shows the example and the headers. */
  const wrapResponse = (Response) =>
    function CompactResponse(props) {
      const { code, className, response, getComponent } = props;
      const [isOpen, setIsOpen] = useState(false);
      if (!/^[45]/.test(code)) return h(Response, props);
      const Markdown = getComponent('Markdown');
      const button = h(
        'button',
        { type: 'button', className: 'response-toggle', 'aria-expanded': isOpen, onClick: () => setIsOpen(!isOpen) },
        h(Markdown, { source: response.get('description') }),
      );
      const row = h(
        'tr',
        { className: `response ${className ?? ''}` },
        h('td', { className: 'response-col_status' }, code),
        h('td', { className: 'response-col_description' }, button),
      );
      const details = { ...props, className: 'response-details', response: response.set('description', '') };
      return h(React.Fragment, null, row, isOpen && h(Response, details));
    };

  const wrapHeaders = (Headers) => (props) =>
    h(
      'details',
      { className: 'response-headers' },
      h('summary', null, `${props.headers.size} response headers`),
      h(Headers, props),
    );

  const wrapWebhooks = (Webhooks) => (props) =>
    h(
      'section',
      { className: 'wrapper webhooks', 'aria-label': 'Webhooks' },
      h('details', null, h('summary', null, 'Webhooks'), h(Webhooks, props)),
    );

  /** Puts a part of the page into a landmark. */
  const wrapIn = (element, label) => (Part) => (props) => h(element, { 'aria-label': label }, h(Part, props));

  /** A link inside a button cannot be reached by keyboard; the address still follows what is open. */
  const wrapDeepLink =
    () =>
    ({ text }) =>
      h('span', null, text);

  function Filter({ layoutSelectors, layoutActions, specSelectors }) {
    const filter = layoutSelectors.currentFilter();
    const onChange = ({ target: { value } }) => {
      layoutActions.updateFilter(value);
      for (const tag of specSelectors.taggedOperations().keys()) {
        layoutActions.show(['operations-tag', tag], value !== '');
      }
    };
    return h(
      'search',
      { className: 'filter wrapper' },
      h('h2', null, 'Operations'),
      h('input', {
        type: 'search',
        className: 'operation-filter-input',
        'aria-label': 'Filter operations',
        placeholder: 'Filter by path, name or group',
        value: typeof filter === 'string' ? filter : '',
        onChange,
      }),
    );
  }

  return {
    components: { FilterContainer: Filter },
    wrapComponents: {
      response: wrapResponse,
      headers: wrapHeaders,
      Webhooks: wrapWebhooks,
      DeepLink: wrapDeepLink,
      InfoContainer: wrapIn('section', 'About this API'),
      AuthorizeBtnContainer: wrapIn('section', 'Authorization'),
      // The only server is the one that serves this page.
      ServersContainer: () => () => null,
    },
    fn: { opsFilter: filterOperations },
  };
}

/** Operations whose method, path, summary, id or group contains `phrase`, in any letter case. */
function filterOperations(taggedOperations, phrase) {
  const wanted = phrase.toLowerCase();
  return taggedOperations
    .map((group, tag) =>
      group.update('operations', (operations) =>
        operations.filter((one) => {
          const { summary = '', operationId = '' } = one.get('operation').toJS();
          const text = `${one.get('method')} ${one.get('path')} ${summary} ${operationId} ${tag}`;
          return text.toLowerCase().includes(wanted);
        }),
      ),
    )
    .filter((group) => group.get('operations').size > 0);
}

SwaggerUIBundle({
  dom_id: '#docs',
  url: '/openapi.json',
  layout: 'BaseLayout',
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [compactPage],
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  syntaxHighlight: { theme: 'tomorrow-night' },
  persistAuthorization: true,
  displayRequestDuration: true,
});
