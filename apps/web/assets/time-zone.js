// Chooses the time zone of this device in a list that is not changed yet.
const list = document.querySelector('select[data-guess]');
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
if (list && timeZone) {
  const known = [...list.options].find(({ value, dataset }) => value === timeZone || dataset.earlier === timeZone);
  if (!known) list.add(new Option(timeZone));
  list.value = known?.value ?? timeZone;
}
