/**
 * The import table: what each part may import. `scripts/check-layers.ts` refuses an import that is not listed and a permission that
 * nothing uses. Paths are relative to the repository; `ours` names other parts, `libraries` third-party packages (`node:*` by `node`).
 * Parts are matched by the longest prefix; test files (`*.test.ts`, `*.contract.ts`, `test/`, `testing/`) are not held to it.
 */
export const layers = [
  { part: 'packages/model/src', ours: [], libraries: ['parse5'], node: false },
  { part: 'packages/protocol/src', ours: ['packages/model/src'], libraries: [], node: false },
  { part: 'packages/protocol/src/client', ours: ['packages/protocol/src'], libraries: ['yjs', 'y-protocols'], node: false },
  { part: 'packages/dev-issuer/src', ours: [], libraries: ['jose', 'oidc-provider'], node: true },
]
