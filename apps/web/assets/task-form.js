// Keeps what is typed while the form is open, and sends it once. The form works without it.
const form = document.querySelector('#task-form, #first-task');
const texts = JSON.parse(form.dataset.texts);
const template = new URLSearchParams(location.search).get('template');
const key = `draft ${location.pathname}${template === null ? '' : ` of ${template}`}`;
/** Those of one showing of the form, and of files. */
const NOT_KEPT = ['_csrf', 'attempt', 'after', 'attachment', 'files', 'proposal'];

function keep() {
  const entries = [...new FormData(form)].filter(([name, value]) => !NOT_KEPT.includes(name) && value !== '');
  sessionStorage.setItem(key, JSON.stringify(entries));
}

/** Text of fields with one name is in their order; boxes are ticked by their value. */
function restore(entries) {
  const kept = Map.groupBy(entries, ([name]) => name);
  for (const control of form.elements) {
    if (!control.name || NOT_KEPT.includes(control.name) || control.type === 'submit') continue;
    const values = kept.get(control.name)?.map(([, value]) => value) ?? [];
    if (control.type === 'checkbox' || control.type === 'radio') control.checked = values.includes(control.value);
    else {
      control.value = values[0] ?? '';
      kept.get(control.name)?.shift();
    }
  }
  // htmx starts before or after this script, even after the event `load`.
  const preview = document.querySelector('#schedule');
  const update = () => form.elements.every.dispatchEvent(new Event('change', { bubbles: true }));
  if (preview?.matches('[data-htmx-powered]')) update();
  else preview?.addEventListener('htmx:after:init', update, { once: true });
}

function showDraft() {
  const notice = document.createElement('div');
  notice.className = 'notice info';
  const paragraph = document.createElement('p');
  paragraph.setAttribute('role', 'status');
  const discard = document.createElement('button');
  discard.className = 'plain';
  discard.type = 'button';
  discard.textContent = texts.discard;
  discard.addEventListener('click', () => {
    sessionStorage.removeItem(key);
    location.replace(template === null ? location.pathname : location.href);
  });
  notice.append(paragraph, discard);
  form.before(notice);
  // A status is announced when it changes.
  paragraph.textContent = texts.restored;
}

/** After the page could not be reached, or the session had ended. Another visit begins with an empty form. */
function openDraft() {
  const text = sessionStorage.getItem(key);
  if (text === null || !('fresh' in form.dataset)) return;
  const [{ type } = {}] = performance.getEntriesByType('navigation');
  const isAsked = new URLSearchParams(location.search).has('draft');
  if (!isAsked && type !== 'reload' && type !== 'back_forward') {
    sessionStorage.removeItem(key);
    return;
  }
  restore(JSON.parse(text));
  showDraft();
}

openDraft();
form.addEventListener('input', keep);
form.addEventListener('change', keep);

const runs = document.querySelector('#runs');
for (const name of ['htmx:error', 'htmx:response:error']) {
  document.querySelector('#schedule')?.addEventListener(name, () => {
    const notice = document.createElement('p');
    notice.className = 'error';
    notice.textContent = texts.notUpdated;
    runs.replaceChildren(notice);
  });
}

let isSent = false;

const setBusy = (isBusy) => {
  isSent = isBusy;
  for (const button of form.querySelectorAll('.do button')) button.setAttribute('aria-disabled', String(isBusy));
};

form.addEventListener('submit', (event) => {
  // A file is uploaded first.
  if (event.defaultPrevented) return;
  if (isSent) {
    event.preventDefault();
    return;
  }
  keep();
  setBusy(true);
});

// The way back, and a page that did not come.
addEventListener('pageshow', () => setBusy(false));
form.addEventListener('carillon:answered', () => setBusy(false));
