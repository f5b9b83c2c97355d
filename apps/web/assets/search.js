// Opens the search over the page. Without it, the link in the menu leads to the page of the search.
const dialog = document.getElementById('search-dialog');

function open() {
  const input = dialog.querySelector('input');
  document.getElementById('menu').hidePopover?.();
  dialog.showModal();
  input.select();
}

if (dialog) {
  document.addEventListener('keydown', (event) => {
    const isShortcut = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (!isShortcut || event.key.toLowerCase() !== 'k') return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  });
  document.querySelector('.menu a[href="/search"]').addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const stops = [...dialog.querySelectorAll('input, a')];
    stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
  });
}
