// Asks the device for a passkey, and sends its answer with the form. Without it the forms stay hidden.
const passkeys = window.PublicKeyCredential;

async function ask({ passkey, options }) {
  const parsed = JSON.parse(options);
  const credential =
    passkey === 'create'
      ? await navigator.credentials.create({ publicKey: passkeys.parseCreationOptionsFromJSON(parsed) })
      : await navigator.credentials.get({ publicKey: passkeys.parseRequestOptionsFromJSON(parsed) });
  return JSON.stringify(credential.toJSON());
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!passkeys?.parseCreationOptionsFromJSON) break;
  const { response } = form.elements;
  const button = form.querySelector('button');
  const failed = form.querySelector('[role="alert"]');
  response.value = '';
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    if (response.value) return;
    event.preventDefault();
    failed.hidden = true;
    button.disabled = true;
    try {
      response.value = await ask(form.dataset);
      form.requestSubmit();
    } catch {
      // The person or the device has refused.
      failed.hidden = false;
    }
    button.disabled = false;
  });
}
