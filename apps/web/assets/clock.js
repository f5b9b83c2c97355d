// Counts the seconds of what is running. Without it they are those of the moment when the page was made.
const starts = new WeakMap();

function tick() {
  for (const clock of document.querySelectorAll('[data-elapsed]')) {
    const { elapsed } = clock.dataset;
    // A refresh of the page brings a new count.
    if (starts.get(clock)?.elapsed !== elapsed) starts.set(clock, { elapsed, at: performance.now() - Number(elapsed) });
    const seconds = Math.floor((performance.now() - starts.get(clock).at) / 1000);
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    const parts = hours > 0 ? [hours, String(minutes).padStart(2, '0')] : [minutes];
    clock.textContent = [...parts, String(seconds % 60).padStart(2, '0')].join(':');
  }
}

tick();
setInterval(tick, 1000);
