import { describe, expect, it } from 'vitest'
import { checkFile, checkTable, importsOf, type Layer, layerOf, stalePermissions, type SuffixRule } from './layer-rules.ts'

const SRC = 'packages/server/src'
const layers: readonly Layer[] = [
  { part: `${SRC}/kernel`, ours: [], libraries: ['pino'], node: true },
  { part: `${SRC}/documents`, ours: [`${SRC}/kernel`, 'packages/model/src'], libraries: [], node: false },
  { part: `${SRC}/drivers/sql`, ours: [], ports: [`${SRC}/documents`], libraries: ['kysely'], node: true },
  { part: `${SRC}/sync/gateway`, ours: [], libraries: ['ws'], node: false },
  { part: `${SRC}/sync`, ours: [], libraries: ['@scope/lib'], node: false },
  { part: `${SRC}/compose`, ours: [`${SRC}/drivers/sql`, `${SRC}/documents`], libraries: [], node: false },
  { part: 'packages/model/src', ours: [], libraries: [], node: false },
]

const check = (path: string, text: string) =>
  checkFile({ path: `${SRC}/${path}`, text }, layers).map((line) => line.slice(line.indexOf(': ') + 2))

describe('checks of imports', () => {
  it('a listed import passes, and another is refused by name', () => {
    expect(
      check(
        'documents/a.ts',
        "import { x } from '../kernel/b.ts'\nimport type { Y } from '@docrelay/model/body'\nimport './c.ts'",
      ),
    ).toEqual([])
    expect(check('kernel/a.ts', "import type { D } from '../documents/d.ts'")).toEqual([`may not import ${SRC}/documents/d.ts`])
    expect(check('documents/a.ts', "import fs from 'node:fs'\nimport pino from 'pino'")).toEqual([
      'may not import node:fs',
      'may not import pino',
    ])
    expect(check('sync/a.ts', "import { z } from '@scope/lib/deep'\nimport { WebSocket } from 'ws'")).toEqual([
      'may not import ws',
    ])
    expect(check('sync/gateway.ts', "import { WebSocket } from 'ws'")).toEqual([])
    expect(check('kernel/a.ts', "import { parseBody } from '@docrelay/model'")).toEqual([
      'may not import packages/model/src/public.ts',
    ])
  })

  it('a driver may import the ports of a feature and nothing else of it', () => {
    expect(check('drivers/sql/a.ts', "import type { P } from '../../documents/store.port.ts'")).toEqual([])
    expect(check('drivers/sql/a.ts', "import { p } from '../../documents/documents.ts'")).toEqual([
      `may not import ${SRC}/documents/documents.ts`,
    ])
  })

  it('only compose may import drivers', () => {
    const open = layers.map((layer) => (layer.part === `${SRC}/sync` ? { ...layer, ours: [`${SRC}/drivers/sql`] } : layer))
    const file = { path: `${SRC}/sync/a.ts`, text: "import { s } from '../drivers/sql/s.ts'" }
    expect(checkFile(file, open)).toEqual([`${file.path}: only compose imports drivers: ${SRC}/drivers/sql/s.ts`])
    expect(check('compose.ts', "import { s } from './drivers/sql/s.ts'")).toEqual([])
    expect(check('compose-worker.ts', "import { s } from './drivers/sql/s.ts'")).toEqual([])
  })

  it('product code may not import test code, and tests may import anything', () => {
    expect(check('documents/a.ts', "import { b } from './testing/b.ts'")).toEqual([
      `imports test code: ${SRC}/documents/testing/b.ts`,
    ])
    expect(check('documents/a.test.ts', "import { s } from '../drivers/sql/s.ts'\nDate.now()")).toEqual([])
  })

  it('all forms of import are found, and those in comments are not', () => {
    const text = [
      "import a, { b } from './a.ts'",
      "import {\n  c,\n} from './c.ts'",
      "export { d } from './d.ts'",
      "export * from './e.ts'",
      "const f = await import('./f.ts')",
      "import './g.ts'",
      "// import { no } from './no.ts'",
      "/* import './no.ts' */",
    ].join('\n')
    expect(
      importsOf({ path: `${SRC}/kernel/x.ts`, text })
        .map(({ specifier }) => specifier)
        .sort(),
    ).toEqual(['a', 'c', 'd', 'e', 'f', 'g'].map((name) => `./${name}.ts`))
  })
})

describe('checks of the layer table', () => {
  it('the longest matching part counts, and a part matches only whole path segments', () => {
    expect(layerOf(`${SRC}/sync/gateway-x.ts`, layers)?.part).toBe(`${SRC}/sync/gateway`)
    expect(layerOf(`${SRC}/sync/room.ts`, layers)?.part).toBe(`${SRC}/sync`)
    expect(layerOf(`${SRC}/synchrony/room.ts`, layers)).toBeNull()
    expect(checkFile({ path: `${SRC}/other/a.ts`, text: '' }, layers)).toHaveLength(1)
  })

  it('an unused permission and a part without files are reported as stale', () => {
    const some = layers.filter(({ part }) => part.endsWith('kernel') || part.endsWith('documents') || part.endsWith('model/src'))
    const files = [
      { path: `${SRC}/kernel/a.ts`, text: "import pino from 'pino'" },
      { path: `${SRC}/documents/a.ts`, text: "import '../kernel/a.ts'" },
      { path: `${SRC}/documents/a.test.ts`, text: "import '@docrelay/model/body'" },
    ]
    expect(stalePermissions(files, some)).toEqual([
      `layers.js: ${SRC}/kernel does not use node`,
      `layers.js: ${SRC}/documents does not use packages/model/src`,
      'layers.js: packages/model/src has no files',
    ])
  })

  it('unknown and repeated parts are reported', () => {
    const row: Layer = { part: 'a', ours: ['b'], libraries: [], node: false }
    expect(checkTable([row, row])).toEqual([
      'layers.js: a stands twice',
      'layers.js: a names b, which is no part',
      'layers.js: a names b, which is no part',
    ])
  })
})

describe('checks of files by the end of their names', () => {
  const suffixes: readonly SuffixRule[] = [{ suffix: '.routes.ts', ours: [`${SRC}/http`] }]
  const table: readonly Layer[] = [
    { part: `${SRC}/kernel`, ours: [], libraries: [], node: false },
    { part: `${SRC}/http`, ours: [`${SRC}/kernel`], libraries: [], node: false },
    { part: `${SRC}/documents`, ours: [`${SRC}/kernel`], libraries: [], node: false },
    { part: `${SRC}/calls`, ours: [`${SRC}/documents`], libraries: [], node: false },
    { part: `${SRC}/compose`, ours: ['*.routes.ts'], libraries: [], node: false },
  ]
  const refused = (path: string, text: string) =>
    checkFile({ path: `${SRC}/${path}`, text }, table, suffixes).map((line) => line.slice(line.indexOf(': ') + 2))

  it('such a file may import its folder, what its folder may, and what the rule adds', () => {
    const text = "import '../http/route.ts'\nimport '../kernel/errors.ts'\nimport './documents.ts'"
    expect(refused('documents/documents.routes.ts', text)).toEqual([])
    expect(refused('documents/documents.ts', text)).toEqual([`may not import ${SRC}/http/route.ts`])
    expect(refused('documents/documents.routes.ts', "import '../calls/calls.ts'")).toEqual([
      `may not import ${SRC}/calls/calls.ts`,
    ])
  })

  it.each(['documents/documents.ts', 'documents/purge.routes.ts', 'calls/calls.ts', 'calls/calls.routes.ts', 'http/app.ts'])(
    '%s may not import such a file',
    (path) => {
      expect(refused(path, "import '../documents/documents.routes.ts'")).toEqual([
        `may not import ${SRC}/documents/documents.routes.ts`,
      ])
    },
  )

  it('a part that lists the suffix may import every such file, and no other file of its folder', () => {
    expect(refused('compose/route-table.ts', "import '../documents/documents.routes.ts'")).toEqual([])
    expect(refused('compose/route-table.ts', "import '../documents/documents.ts'")).toEqual([
      `may not import ${SRC}/documents/documents.ts`,
    ])
  })

  describe('stale permissions', () => {
    const rows = (ofDocuments: readonly string[]): readonly Layer[] => [
      { part: `${SRC}/http`, ours: [], libraries: [], node: false },
      { part: `${SRC}/documents`, ours: ofDocuments, libraries: [], node: false },
    ]
    const route = { path: `${SRC}/http/route.ts`, text: '' }
    const routes = (text: string) => ({ path: `${SRC}/documents/documents.routes.ts`, text })

    it('what such a file imports by its rule is no use of the permissions of its folder', () => {
      const files = [route, routes("import '../http/route.ts'")]
      expect(stalePermissions(files, rows([]), suffixes)).toEqual([])
      expect(stalePermissions(files, rows([`${SRC}/http`]), suffixes)).toEqual([
        `layers.js: ${SRC}/documents does not use ${SRC}/http`,
      ])
    })

    it('a rule without files, and one that gives more than its files need, are reported', () => {
      const others = { path: `${SRC}/documents/documents.ts`, text: '' }
      expect(stalePermissions([route, others], rows([]), suffixes)).toEqual(['layers.js: *.routes.ts has no files'])
      expect(stalePermissions([route, routes('')], rows([]), suffixes)).toEqual([
        `layers.js: *.routes.ts does not use ${SRC}/http`,
      ])
    })
  })

  it('a part may name a suffix that has a rule, and a rule may name only parts', () => {
    expect(checkTable(table, suffixes)).toEqual([])
    expect(checkTable(table, [])).toEqual([`layers.js: ${SRC}/compose names *.routes.ts, which is no part`])
    expect(checkTable(table, [{ suffix: '.routes.ts', ours: ['a'] }])).toEqual([
      'layers.js: *.routes.ts names a, which is no part',
    ])
  })
})

describe('checks of names and clocks', () => {
  it.each([
    ['kernel/index.ts', 'a file named index.ts says nothing'],
    ['kernel/types.ts', 'a file named types.ts says nothing'],
    ['kernel/utils/a.ts', 'a folder named utils says nothing'],
    ['kernel/helpers/a.ts', 'a folder named helpers says nothing'],
    ['kernel/common/a.ts', 'a folder named common says nothing'],
    ['kernel/a/b/c/d.ts', 'more than 3 folders below src'],
    ['kernel/keySet.ts', 'not a kebab-case name'],
  ])('%s: %s', (path, problem) => {
    expect(check(path, '')).toEqual([problem])
  })

  it.each(['Date.now()', 'Math.random()', 'performance.now()', 'new Date()', 'const now = Date.now'])(
    '%s is allowed only where clocks are made',
    (text) => {
      expect(check('documents/a.ts', text)).toHaveLength(1)
      expect(check('kernel/clock.ts', text)).toEqual([])
      expect(check('documents/a.ts', `// ${text}`)).toEqual([])
      expect(check('documents/a.ts', 'new Date(clock.nowMs())')).toEqual([])
    },
  )
})
