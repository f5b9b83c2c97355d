// Chooses the time zone of this device in a list that is not changed yet.
const list = document.querySelector('select[data-guess]');
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
if (list && timeZone) {
  const isKnown = [...list.options].some(({ value }) => value === timeZone);
  if (!isKnown) list.add(new Option(timeZone));
  list.value = timeZone;
}
