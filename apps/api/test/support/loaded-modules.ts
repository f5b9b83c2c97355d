import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** For `--import`: writes the address of every module that the process loads into the file that LOADED_MODULES names. */
registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES as string, `${url}\n`);
    return next(url, context);
  },
});
