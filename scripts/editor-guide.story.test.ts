import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RelayUnderTest, startRelayUnderTest } from '../packages/server/src/test/relay-under-test.ts'

const ROOT = join(import.meta.dirname, '..')
const GUIDE = readFileSync(join(ROOT, 'docs/editor-guide.md'), 'utf8')
const run = promisify(execFile)

/** The code around the guide's code. It records every event of the guide in `told`. */
const BEFORE = `
import 'fake-indexeddb/auto'
const [, , url = '', token = ''] = process.argv
const told: unknown[][] = []
const tell = (name: string) => (...args: unknown[]) => void told.push([name, ...args])
const session = {
  token,
  accessToken: async (_: { fresh: boolean }): Promise<string | null> => token,
  freshToken: (_: boolean) => token,
}
const showSignIn = tell('signIn')
const showRow = tell('row')
const showConflict = tell('conflict')
const showProblem = tell('problem')
const setReadOnly = tell('readOnly')
const bindEditor = (..._: object[]) => told.push(['bound'])
const showBadge = (link: string, saved: string, ..._: unknown[]) => told.push(['badge', link, saved])
const follow = tell('follow')
const leave = tell('leave')
const ask = async (_: string) => 'copy'
const updateRow = tell('event')
const reloadList = tell('reload')
const showCopyIsOff = tell('copyOff')
const showClosed = tell('closed')
const addEventListener = (_: 'beforeunload', __: (event: Event) => void) => told.push(['beforeunload'])
`
/** The end of the story: the document is deleted while it is open. */
const AFTER = `
const has = (name: string) => told.some(([each]) => each === name)
const until = async (name: string) => {
  while (!has(name)) await new Promise((resolve) => setTimeout(resolve, 10))
}
ydoc.getMap('fields').set('from-provider', { name: 'from-provider', value: '' })
while (!document.ydoc.getMap('fields').has('from-provider')) await new Promise((resolve) => setTimeout(resolve, 10))
await relay.documents.delete('weekly-minutes')
await Promise.all([until('leave'), until('closed')])
provider.destroy()
await relay.close()
console.log(JSON.stringify(told))
process.exit()
`
let relay: RelayUnderTest
let folder: string
beforeAll(async () => {
  relay = await startRelayUnderTest()
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  folder = mkdtempSync(join(ROOT, 'dist/guide-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await relay?.[Symbol.asyncDispose]()
})

/** Returns the code of the guide as one module, with imports first and the addresses of the relay under test. */
function programOf(guide: string): string {
  const code = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n')
  const imports = code.match(/^import .*$/gm) ?? []
  const rest = code.replaceAll(/^import .*$/gm, '')
  return [...imports, BEFORE, rest, AFTER]
    .join('\n')
    .replaceAll("'https://relay.example'", 'url')
    .replaceAll("'wss://relay.example/ws'", '`${url}/ws`')
}

it("the code of the editor's guide is valid TypeScript and does what the guide says", async () => {
  const file = join(folder, 'guide.ts')
  writeFileSync(file, programOf(GUIDE))
  const compilerOptions = { noEmit: true, lib: ['ES2023', 'DOM', 'DOM.Iterable'], types: ['node'], noUnusedLocals: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.base.json'), compilerOptions, files: [file] }),
  )
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { stdio: ['ignore', 'inherit', 'inherit'] })
  const token = relay.token({ sub: 'ann', role: 'member' })
  const { stdout } = await run(process.execPath, [file, relay.baseUrl, token])
  const told = JSON.parse(stdout) as unknown[][]
  const names = new Set(told.map(([name]) => name))
  expect(told).toEqual(
    expect.arrayContaining([
      ['row', 'weekly-minutes', 'Weekly minutes', 'owner'],
      ['conflict', 1],
      ['readOnly', false],
      ['bound'],
      ['badge', 'live', 'saving'],
      ['badge', 'live', 'saved'],
      ['leave', 'deleted'],
      ['event', 'deleted', 'weekly-minutes'],
      ['closed', 4404, 'ERR_DELETED'],
    ]),
  )
  expect(names.has('reload')).toBe(true)
  for (const wrong of ['problem', 'signIn', 'copyOff', 'follow']) expect(names.has(wrong)).toBe(false)
})
