// Moves between the runs of a strip with the arrow keys: the Tab key leads to one of them only.
const KEYS = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_at, last) => last,
};

document.addEventListener('keydown', (event) => {
  const strip = event.target.closest?.('.strip.tall');
  const move = KEYS[event.key];
  if (!strip || !move || event.ctrlKey || event.altKey || event.metaKey) return;
  const links = [...strip.querySelectorAll('a')];
  const last = links.length - 1;
  const next = links[Math.min(last, Math.max(0, move(links.indexOf(event.target), last)))];
  event.preventDefault();
  event.target.setAttribute('tabindex', '-1');
  next.setAttribute('tabindex', '0');
  next.focus();
});
