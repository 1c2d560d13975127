import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/**
 * Edits 400 documents in turn, so that an empty list of transactions waits long enough to become an old object. Prints the bytes by which old objects
 * grow for each edit, and how many of these bytes are still there after a full collection.
 */
const EDITS_IN_TURN = (opening: string): string => `
  import { getHeapSpaceStatistics } from 'node:v8'
  import * as Y from 'yjs'
  ${opening}
  const typing = new Y.Doc()
  const text = typing.getText('t')
  const updates = []
  typing.on('update', (update) => updates.push(update))
  for (let i = 0; i < 50; i++) text.insert(i, 'x')
  const docs = Array.from({ length: 400 }, openDoc)
  for (const doc of docs) doc.getText('t')
  const apply = (from, to) => {
    for (const update of updates.slice(from, to)) for (const doc of docs) Y.applyUpdate(doc, update)
  }
  const oldBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size
  apply(0, 20)
  gc()
  const before = oldBytes()
  apply(20, 50)
  const after = oldBytes()
  gc()
  console.log(JSON.stringify([after, oldBytes()].map((bytes) => (bytes - before) / (30 * 400))))`

async function oldBytesPerEdit(opening: string): Promise<readonly [grown: number, kept: number]> {
  const script = EDITS_IN_TURN(opening)
  const flags = ['--expose-gc', '--max-semi-space-size=1', '--heap-growing-percent=1000', '--no-allocation-site-pretenuring']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
  })
  return JSON.parse(stdout) as [number, number]
}

it('an edit leaves few old objects in a document of a room, and more than five times as many in a plain Y.Doc', async () => {
  const module = JSON.stringify(new URL('indexed-doc.ts', import.meta.url).href)
  const [grown, kept] = await oldBytesPerEdit(`import { indexedDoc as openDoc } from ${module}`)
  const [plain] = await oldBytesPerEdit('const openDoc = () => new Y.Doc()')
  expect(kept).toBeLessThan(300)
  expect(grown - kept).toBeLessThan(300)
  expect(plain).toBeGreaterThan(5 * grown)
})
