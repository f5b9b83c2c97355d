import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** For `--import`: appends the URL of every loaded module to the file LOADED_MODULES. */
registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES as string, `${url}\n`);
    return next(url, context);
  },
});
