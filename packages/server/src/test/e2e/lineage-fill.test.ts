import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { creation } from '../../documents/testing/document-writes.ts'
import { openHost } from '../../drivers/sql/testing/store-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'
import { startRelayUnderTest, until } from '../relay-under-test.ts'

const DOCUMENTS = 4_000

/** Returns the lineages by document id; null for a document without one. */
function lineagesIn(path: string): ReadonlyMap<string, string | null> {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = db.prepare('select id, lineage from documents').all()
    return new Map(rows.map((row) => [String(row['id']), row['lineage'] as string | null]))
  } finally {
    db.close()
  }
}

const given = (lineages: ReadonlyMap<string, string | null>) => [...lineages].filter(([, lineage]) => lineage !== null)

it('[WS-61] [LIFE-3] [LIFE-30] a running relay gives old documents their lineage, and a kill -9 changes none already given', {
  timeout: patience(60_000),
}, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'docrelay-lineages-'))
  const path = join(dataDir, 'relay.db')
  try {
    const host = await openHost(`sqlite:${path}`)
    await Promise.all(
      Array.from({ length: DOCUMENTS }, (_, n) => host.documents.write(creation({ workspaceId: 'default', id: `old-${n}` }))),
    )
    await host[Symbol.asyncDispose]()
    // A former release did not know these columns.
    const db = new DatabaseSync(path)
    db.exec('update documents set lineage = null, lineage_crc32 = null')
    db.close()

    await using relay = await startRelayUnderTest({ dataDir })
    await until('some to be given', () => given(lineagesIn(path)).length > 0, 20_000)
    await relay.kill()
    const amid = new Map(given(lineagesIn(path)))
    await relay.restart()
    const asked = await relay.rest({ sub: 'ada', role: 'member' }).getMetadata(`old-${DOCUMENTS - 1}`)
    await until('all to be given', () => given(lineagesIn(path)).length === DOCUMENTS, 30_000)
    const all = lineagesIn(path)
    for (const [id, lineage] of amid) expect(all.get(id)).toBe(lineage)
    expect(all.get(asked.id)).toBe(asked.lineage)
    expect(new Set(all.values()).size).toBe(DOCUMENTS)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})
