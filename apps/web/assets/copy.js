// Copies what a button names. Without it, or on a page without https, the buttons are not shown.
if (navigator.clipboard) {
  document.documentElement.classList.add('can-copy');
  document.addEventListener('click', async ({ target }) => {
    const button = target.closest('button[data-copy]');
    const source = button && document.getElementById(button.dataset.copy);
    if (!source) return;
    await (source.localName === 'div' ? copyFormatted(source) : navigator.clipboard.writeText(source.textContent));
    const done = button.querySelector('[role="status"]');
    done.textContent = button.dataset.done;
    setTimeout(() => {
      done.textContent = '';
    }, 2000);
  });
}

/** An editor gets headings and tables, anything else the text. */
function copyFormatted(source) {
  // biome-ignore lint/performance/useDomNodeTextContent: lines and columns as they are laid out
  const parts = { 'text/html': source.innerHTML, 'text/plain': source.innerText };
  return navigator.clipboard.write([
    new ClipboardItem(
      Object.fromEntries(Object.entries(parts).map(([type, text]) => [type, new Blob([text], { type })])),
    ),
  ]);
}
