// Refreshes a page when something of its user changes. Pages work without it.
const KINDS = document.body.dataset.events?.split(' ') ?? [];
// A refresh keeps this element, but may move it.
const status = document.getElementById('live');
/** Several events of one change make one refresh, and a busy account makes one in this time. */
const GATHER_MS = 100;
const REFRESH_MS = 700;

let source = null;
let timer = null;
// What happens between the reading of the page and the start of the stream is not missed.
let lastId = document.body.dataset.after ?? '0';
let refreshedAt = 0;

function show(state, isLost) {
  const text = status.dataset[state];
  if (status.textContent === text) return;
  status.textContent = text;
  status.classList.toggle('lost', isLost);
}

function refresh() {
  refreshedAt = Date.now();
  document.body.dispatchEvent(new CustomEvent('carillon:changed'));
}

function changed({ lastEventId }) {
  if (lastEventId !== '') lastId = lastEventId;
  if (timer !== null) return;
  const wait = Math.max(GATHER_MS, refreshedAt + REFRESH_MS - Date.now());
  timer = setTimeout(() => {
    timer = null;
    refresh();
  }, wait);
}

function open() {
  source = new EventSource(`/api/events?after=${encodeURIComponent(lastId)}`);
  source.onopen = () => show('live', false);
  source.onerror = () => {
    const isClosed = source.readyState === EventSource.CLOSED;
    show(isClosed ? 'off' : 'lost', true);
    // Leads to the sign-in if the session has ended.
    if (isClosed) refresh();
  };
  for (const kind of [...KINDS, 'reset']) source.addEventListener(kind, changed);
}

// A user has few streams, so a tab in the background has none.
function openWhileVisible() {
  if (document.visibilityState === 'visible') {
    if (source === null) open();
  } else if (source !== null) {
    source.close();
    source = null;
    show('paused', false);
  }
}

document.body.addEventListener('htmx:after:swap', () => {
  document.getElementById('icon').href = document.getElementById('unseen-runs').dataset.icon;
});

if (status) {
  document.addEventListener('visibilitychange', openWhileVisible);
  openWhileVisible();
}
