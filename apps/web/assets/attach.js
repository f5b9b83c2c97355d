// Uploads chosen files at once, with their progress. Without it they are sent with the form.
const UNITS = [
  ['MB', 1_000_000],
  ['KB', 1000],
];

const formatBytes = (bytes) => {
  const [unit, size] = UNITS.find(([, size]) => bytes >= size) ?? ['bytes', 1];
  return `${unit === 'MB' ? (bytes / size).toFixed(1) : Math.round(bytes / size)} ${unit}`;
};

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function send(file, onProgress) {
  const body = new FormData();
  body.append('file', file);
  const request = new XMLHttpRequest();
  request.open('POST', '/api/upload');
  request.responseType = 'json';
  request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total);
  return new Promise((resolve) => {
    request.onloadend = () => resolve(request);
    request.send(body);
  });
}

function describeFailure({ status, response }, texts) {
  if (status === 0) return texts.connectionLost;
  const [message] = Object.values(response?.details ?? {}).flat();
  return typeof message === 'string'
    ? message
    : `${texts.notAttached} ${response?.message ?? response?.error ?? status}`;
}

for (const place of document.querySelectorAll('[data-attach]')) {
  const texts = JSON.parse(place.dataset.texts);
  const input = place.querySelector('input[type="file"]');
  const list = place.querySelector('.files');
  const status = place.querySelector('[role="status"]');
  let last = Promise.resolve();
  let count = 0;
  let waiting = 0;
  let errors = [];

  function showError(text) {
    errors.push(text);
    const known = document.getElementById('files-error');
    const error = known ?? make('p', { className: 'error', id: 'files-error' });
    error.setAttribute('role', 'alert');
    error.textContent = errors.join(' ');
    input.setAttribute('aria-invalid', 'true');
    if (!known) input.after(error);
    const described = (input.getAttribute('aria-describedby') ?? '').split(' ');
    input.setAttribute('aria-describedby', [...new Set([...described, 'files-error'])].join(' ').trim());
  }

  async function upload(file) {
    count += 1;
    const id = `upload-${count}`;
    const progress = make('progress', { id, max: 100, value: 0 });
    const share = make('span', { className: 'muted' });
    const label = make('label', { textContent: file.name });
    label.htmlFor = id;
    const item = make('li', {}, label, ' ', progress, ' ', share);
    list.append(item);
    const request = await send(file, (loaded, total) => {
      progress.value = (100 * loaded) / total;
      share.textContent = `${Math.round((100 * loaded) / total)}% · ${formatBytes(total)}`;
    });
    if (request.status !== 200) {
      item.remove();
      showError(`${file.name} ${describeFailure(request, texts)}.`);
      return;
    }
    const { response } = request;
    const fileId = request.getResponseHeader('x-file-id');
    const remove = make('button', { className: 'plain', name: 'remove', value: fileId, textContent: texts.remove });
    remove.formNoValidate = true;
    remove.setAttribute('aria-label', `${texts.remove} ${response.name}`);
    item.replaceChildren(
      make('input', { type: 'hidden', name: 'attachment', value: fileId }),
      make('span', { textContent: response.name }),
      ' ',
      make('span', { className: 'muted', textContent: formatBytes(response.size) }),
      ' ',
      remove,
    );
    status.textContent = `${texts.attached} ${response.name}`;
  }

  input.addEventListener('change', () => {
    document.getElementById('files-error')?.remove();
    input.removeAttribute('aria-invalid');
    errors = [];
    for (const file of input.files) {
      waiting += 1;
      last = last
        .then(() => upload(file))
        .finally(() => {
          waiting -= 1;
        });
    }
    // They must not be sent a second time.
    input.value = '';
  });

  input.form.addEventListener('submit', (event) => {
    if (waiting === 0) return;
    event.preventDefault();
    status.textContent = texts.uploading;
    last.then(() => {
      if (waiting === 0) input.form.requestSubmit(event.submitter);
    });
  });

  list.addEventListener('click', (event) => {
    const button = event.target.closest('button[name="remove"]');
    if (!button) return;
    event.preventDefault();
    const item = button.closest('li');
    status.textContent = `${texts.removed} ${item.querySelector('span').textContent}`;
    item.remove();
    input.focus();
  });
}
