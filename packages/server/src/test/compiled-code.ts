import { join } from 'node:path'

/** Where the processes that tests start find the compiled code of earlier ones, so that each need not compile the relay anew. */
export const COMPILED_CODE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../../node_modules/.cache/docrelay-tests'),
}
