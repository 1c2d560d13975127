/** The public names of @docrelay/prosemirror. Nothing in the package imports this file. */
export { bindProse, type LiveDocument, type ProseBinding, type ProseOptions } from './bind-prose.ts'
export { blockIds } from './block-ids.ts'
export { carets } from './carets.ts'
export { displaySchema } from './page-display.ts'
export { type PageProblem, problemsOf } from './page-problems.ts'
export { proseSchema } from './prose-schema.ts'
export type { LoadBlob } from './stored-images.ts'
