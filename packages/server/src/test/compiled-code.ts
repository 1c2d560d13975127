import { join } from 'node:path'

/** The cache of compiled code that all relays of the tests share, so that each need not compile its code again. */
export const COMPILED_CODE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../../node_modules/.cache/docrelay-tests'),
}
